"""Tests for agents and back-ends, ours and others'.

An agent's test compares a transcript with the current messages (`transcribe`). A back-end's test imports every
back-end's promises (`backend_promises`) and builds their case. pytest explains a failed `assert` of these, too.
"""

import pytest

from roambus.bridge.transcript.transcript import transcribe

__all__ = ["transcribe"]

# Before their import, for afterwards pytest can no longer see their sources.
pytest.register_assert_rewrite("roambus.testing.backend_case", "roambus.testing.backend_promises")
