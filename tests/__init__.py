"""Tests of both halves, of the contract between them, and end to end."""
