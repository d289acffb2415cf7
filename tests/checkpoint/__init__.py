"""Tests of reading model folders."""
