"""The abstract interpreter: follows a tree's own code over known and unknown values and records what it does."""
