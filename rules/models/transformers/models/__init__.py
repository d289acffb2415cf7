"""transformers.models: a module for every family; configuration classes are found in any of them by name."""
