"""Tests for agents and back-ends that others write.

An agent's test compares a transcript with what is sent now (`transcribe`), as `roambus trace` prints it. The fixtures
of `roambus.pytest_plugin` test what it delivers and costs. A back-end's test imports the promises that every back-end
keeps (`backend_promises`), and makes the case that they are tested with.

pytest is needed; it explains a failed `assert` of these modules as it does those of a test file.
"""

import pytest

from roambus.bridge.transcript.transcript import transcribe

__all__ = ["transcribe"]

# Before their import, for afterwards pytest can no longer see their sources.
pytest.register_assert_rewrite("roambus.testing.backend_case", "roambus.testing.backend_promises")
