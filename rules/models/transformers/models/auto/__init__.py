"""transformers.models.auto."""

from transformers import AutoConfig
