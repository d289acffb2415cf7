"""concurrent."""
