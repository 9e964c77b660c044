"""Tests for what others write: the promises of back-ends (`backend_promises`), and the case that they are tested with.

pytest is needed; it explains a failed `assert` of these modules as it does those of a test file.
"""

import pytest

# Before their import, for afterwards pytest can no longer see their sources.
pytest.register_assert_rewrite("roambus.testing.backend_case", "roambus.testing.backend_promises")
