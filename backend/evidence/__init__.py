"""From what the sources found to what an answer may stand on."""
