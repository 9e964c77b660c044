"""The common part of our pages' content security policies: only listed hashes of scripts and styles may run."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import jinja2


def source_hash(text: str) -> str:
    """The hash by which a policy allows an inlined script or style."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode('ascii')}'"


def page_template(file: Path) -> jinja2.Template:
    """A page's template; values are escaped, and a missing name is an error."""
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    return environment.from_string(file.read_text(encoding="utf-8"))
