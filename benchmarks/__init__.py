"""The figures of the README, each by one command: `scripts/bench NAME`."""
