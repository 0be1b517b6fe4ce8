"""From a question to a plan: which source gets which words, and whether it is Home Assistant's to answer."""
