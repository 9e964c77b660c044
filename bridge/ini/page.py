"""The page of the docs that lists every key, written from the declarations.

`python -m roambus.bridge.ini.page docs/ini-keys.md` writes it; a test holds it to the declarations.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from roambus.bridge.ini import parity
from roambus.bridge.ini.keys import PER_MANAGER, PER_NODE, SHARED
from roambus.bridge.keys.key import Key

HEAD = """\
# Keys of the ini

Every key that a rendered ini may hold; `roambus render` prints such an ini, and [Templates and sweeps](sweeps.md) says
how it is made. A key that stands here has the default of Castalia's own module, so that leaving it out means the same
to Castalia and to the embedded radio. A key that does not stand here is an error with its line, and so is a value that
cannot be read, is out of range, or is not known to the embedded radio.

- A *number* has the unit that the column says, and is written without it. A *time with its unit* carries it: `100ms`.
- A key that *must be set* has no default.
- Keys of `SN.node[*]` can differ from node to node, as in `SN.node[3].xCoor` and `SN.node[1..4].xCoor`. Those of the
  MAC, of the routing and of the radio except its transmit power, the agent and the processing delay are the same for
  all nodes.

`python -m roambus.bridge.ini.page docs/ini-keys.md` writes this page from the declarations of the keys.
"""
COLUMNS = "| Key | Type | Unit | Range | Default | Meaning |\n|---|---|---|---|---|---|\n"


def page() -> str:
    """The whole page in Markdown: a table for each module."""
    return "\n".join([HEAD, *_sections()])


def _sections() -> Iterator[str]:
    for title, keys in (SHARED | PER_NODE).items():
        yield f"## {title}\n\n{_table(keys)}"
    for manager, keys in PER_MANAGER.items():
        if keys:
            yield f"### {manager}\n\n{_table(keys)}"
    yield parity.section()


def _table(keys: Iterable[Key]) -> str:
    return COLUMNS + "".join(f"| {' | '.join(_cells(key))} |\n" for key in keys)


def _cells(key: Key) -> Iterator[str]:
    default = "must be set" if key.default is None else f"`{key.default}`"
    for cell in (f"`{key.path}`", key.kind.name, key.unit or key.kind.unit, _range(key), default, key.doc):
        yield cell.replace("|", r"\|")


def _range(key: Key) -> str:
    if not key.only:
        return key.range_text()
    return " or ".join(f"`{choice}`" if choice else '`""`' for choice in key.choices())


def main(arguments: list[str]) -> int:
    """Writes the page to the file that is given."""
    Path(arguments[0]).write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
