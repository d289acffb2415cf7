"""mtp-trace: says from SGLang's own source whether speculative decoding will run, and why not."""

__version__ = "0.1.0"
