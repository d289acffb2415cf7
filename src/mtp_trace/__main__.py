"""``python -m mtp_trace``."""

from mtp_trace.cli import main

main()
