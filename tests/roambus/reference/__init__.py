"""Tests of roambus/reference."""
