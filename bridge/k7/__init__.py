"""Connectivity that testbeds have recorded, in the K7 format: who heard whom, how strongly and how reliably, when.

`recording` is what a file says, `reader` reads one, with `columns` for its rows and `header` for its first line.
`choice` takes of it what a run plays, a channel from some time on, and `gaps` names what the recording does not say of
that.
"""

from roambus.bridge.k7.reader import read_k7
from roambus.bridge.k7.recording import EVERY_CHANNEL, ROW, Recording

__all__ = ["EVERY_CHANNEL", "ROW", "Recording", "read_k7"]
