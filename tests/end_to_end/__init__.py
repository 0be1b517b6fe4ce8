"""Everything as it runs in a house: real processes that talk over sockets."""
