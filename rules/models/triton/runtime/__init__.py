"""triton.runtime."""
