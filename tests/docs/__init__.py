"""Tests of what lies beside the pages."""
