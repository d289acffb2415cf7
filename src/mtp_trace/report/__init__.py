"""The report (schema v1) and its renderers."""
