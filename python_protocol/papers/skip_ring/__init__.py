"""The self-stabilising supervised skip ring, and publish/subscribe on it. Sections are those of the skip ring's paper.

| module         | what it is                                                        | source              |
|----------------|-------------------------------------------------------------------|---------------------|
| `agent`        | puts supervisor and members on a node                             | section 4           |
| `supervisor`   | BuildSR at the supervisor                                         | sections 3.1, 4.1   |
| `database`     | who has which label, its repair, configurations                   | section 3.1         |
| `member`       | a node in the ring of one topic                                   | section 4           |
| `subscriber`   | BuildSR at a subscriber: the actions (i) to (iv)                  | sections 3.2, 4.1   |
| `build_ring`   | the extended BuildRing                                            | section 2.2         |
| `shortcuts`    | which there are, and how they are found                           | section 3.2.2       |
| `refusal`      | what a node without a place in the ring answers                   | section 4.1         |
| `publications` | CheckTrie, CheckAndPublish, flooding                              | sections 4.2, 4.3   |
| `patricia`     | tries with hashes                                                 | section 4.2         |
| `topics`       | which filters and notifications belong to which ring              | section 4           |
| `labels`       | l(x), r(label), labels of shortcuts                               | sections 2.1, 3.2.2 |
| `references`   | a node and its believed label                                     | section 2.2         |
| `bits`         | texts of bits, and how they travel                                |                     |
| `messages`     | what is sent                                                      |                     |
| `parameters`   | what can be set                                                   | the paper gives none |
| `corrupted`    | the same agent from a corrupted state: for tests and experiments  | section 1.1         |
| `definition`   | the skip ring as it is defined, without the protocol              | section 2.1         |

It is an overlay network: everybody must be able to reach everybody, as over the Internet. So it runs on ideal links
with `SN.ideal.complete = true`; over a radio only if all nodes are in range of each other.
"""

from roambus.python_protocol.papers.skip_ring.agent import SkipRing

__all__ = ["SkipRing"]
