"""Tests of the factorial over the open choices."""
