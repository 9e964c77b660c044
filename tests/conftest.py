"""Settings of all tests."""

from hypothesis import settings

# How long an example takes says something of the machine, not of the behaviour that a test states.
settings.register_profile("roambus", deadline=None)
settings.load_profile("roambus")
