"""The house's own documents: what is in the library, and how it becomes passages."""
