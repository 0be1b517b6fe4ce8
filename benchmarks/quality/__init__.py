"""What the answers are worth: one table of figures, measured on public data."""
