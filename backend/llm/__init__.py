"""Model servers: the seam and one file for each."""
