"""The self-stabilising supervised skip ring, and publish/subscribe on it. Sections are those of the skip ring's paper.

| chapter        | what it is                                                                | source |
|----------------|---------------------------------------------------------------------------|---|
| `agent`        | puts the supervisor, and a subscriber for each topic, on a node           | section 4 |
| `supervisor`   | BuildSR at the supervisor: who has which label, and its repair            | sections 3.1, 4.1 |
| `subscriber`   | BuildSR at a subscriber: the actions (i) to (iv); a node outside the ring | sections 3.2, 4.1 |
| `ring`         | the extended BuildRing, and shortcuts                                     | sections 2.2, 3.2.2 |
| `publications` | Patricia tries, CheckTrie, CheckAndPublish, flooding                      | sections 4.2, 4.3 |
| `labels`       | l(x), r(label), labels of shortcuts, references                           | sections 2.1, 2.2 |
| `messages`     | what is sent, and what can be set                                         | section 4 |
| `corrupted`    | the agent from corrupted states, BuildRing alone, the ring as defined     | sections 1.1 to 2.2 |

It is an overlay network: everybody must be able to reach everybody, as over the Internet. So it runs on ideal links
with `SN.ideal.complete = true`; over a radio only if all nodes are in range of each other.
"""

from roambus.python_protocol.papers.skip_ring.agent import SkipRing

__all__ = ["SkipRing"]
