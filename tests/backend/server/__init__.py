"""Tests of the HTTP surface, through a client."""
