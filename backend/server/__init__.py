"""HTTP: routes, keys, limits, streaming."""
