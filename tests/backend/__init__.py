"""Tests of the backend; they run on every supported Python."""
