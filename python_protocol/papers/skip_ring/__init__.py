"""The self-stabilising supervised skip ring, and publish/subscribe on it.

Sections are those of the skip ring's paper. It is an overlay in which every node can reach every other: run it on
ideal links with `SN.ideal.complete = true`, or on a radio with all nodes in range.

| module         | content                                                         | section     |
|----------------|-----------------------------------------------------------------|-------------|
| `agent`        | the supervisor, and a subscriber for each topic, on a node      | 4           |
| `supervisor`   | BuildSR at the supervisor: labels, and their repair             | 3.1, 4.1    |
| `subscriber`   | BuildSR at a subscriber; a node outside the ring                | 3.2, 4.1    |
| `ring`         | the extended BuildRing, and shortcuts                           | 2.2, 3.2.2  |
| `publications` | Patricia tries, CheckTrie, CheckAndPublish, flooding            | 4.2, 4.3    |
| `labels`       | l(x), r(label), labels of shortcuts, references                 | 2.1, 2.2    |
| `messages`     | messages and parameters                                         | 4           |
| `corrupted`    | the agent from corrupted states, and the ring as defined        | 1.1 to 2.2  |
"""

from roambus.python_protocol.papers.skip_ring.agent import SkipRing

__all__ = ["SkipRing"]
