"""The names of the trace rows that agents write by `Note`.

They are the same as in `spark.schema`, which agents do not import: they run without what analyses the trace.
"""

from __future__ import annotations

ROUTE = "route"
"""The protocol takes a notification on for the subscribers listed in `detail`, blanks between them."""
DROP = "drop"
"""A packet or notification is given up: `detail` says why."""
MIGRATE = "migrate"
"""The node has a new parent, `peer` (None: none)."""
STORE = "store"
"""A broker stores a notification for subscriber `peer`."""
REPLAY = "replay"
"""A broker sends a stored notification towards subscriber `peer`."""
