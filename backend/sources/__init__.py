"""Places to look things up: one file a source, named after its tag."""
