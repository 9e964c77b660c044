"""Fixtures for the tests of agents: how much a protocol delivers, and what that costs (`pytest_plugin`)."""
