"""The server: answers questions from sources the house owns. It knows nothing of Home Assistant."""

__version__ = "0.1.0"
