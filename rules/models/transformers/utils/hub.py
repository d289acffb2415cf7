"""transformers.utils.hub."""

from transformers.utils import cached_file
