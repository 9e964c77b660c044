"""Tests of the programs that write pages."""
