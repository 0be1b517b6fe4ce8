"""SQL is here, its meaning elsewhere."""
