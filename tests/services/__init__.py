"""Real services that the tests ask, each started by one file."""
