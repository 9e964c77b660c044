"""Tests for third-party agents and back-ends.

An agent's test compares a transcript with the current messages (`transcribe`); the fixtures of `pytest_plugin` test
delivery and cost. A back-end's test imports every back-end's promises (`backend_promises`) and builds their case.
pytest explains a failed `assert` of these modules, too.
"""

import pytest

from roambus.bridge.transcript.transcript import transcribe

__all__ = ["transcribe"]

# Before their import, for afterwards pytest can no longer see their sources.
pytest.register_assert_rewrite("roambus.extensions.testing.backend_case", "roambus.extensions.testing.backend_promises")
