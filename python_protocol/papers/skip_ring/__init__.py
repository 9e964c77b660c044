"""The self-stabilising supervised skip ring, and publish/subscribe on it.

Every node must reach every other: use ideal links with `SN.ideal.complete = true`, or a radio with all nodes in range.
Sections are those of the paper.

| module         | content                                          | section     |
|----------------|--------------------------------------------------|-------------|
| `agent`        | supervisor, and a member for each topic          | 4           |
| `supervisor`   | BuildSR at the supervisor                        | 3.1, 4.1    |
| `subscriber`   | BuildSR at a subscriber; nodes outside the ring  | 3.2, 4.1    |
| `ring`         | the extended BuildRing, and shortcuts            | 2.2, 3.2.2  |
| `publications` | Patricia tries, flooding                         | 4.2, 4.3    |
| `labels`       | l(x), r(label), references                       | 2.1, 2.2    |
| `messages`     | messages and parameters                          | 4           |
| `corrupted`    | corrupted states, the ring as defined            | 1.1 to 2.2  |
"""

from roambus.python_protocol.papers.skip_ring.agent import SkipRing

__all__ = ["SkipRing"]
