"""Pure functions over text: sentences, numbers, languages. No I/O."""
