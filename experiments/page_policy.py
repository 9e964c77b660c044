"""What the content security policies of our pages share."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256


def source_hash(text: str) -> str:
    """How a policy names an inlined script or style: only that text is obeyed."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode('ascii')}'"
