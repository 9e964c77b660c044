"""What the content security policies of our pages share: only a script or style whose hash is named is obeyed."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256


def source_hash(text: str) -> str:
    """The name of an inlined script or style in a policy, by which only that text is obeyed."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode('ascii')}'"
