"""Parts that several protocols share, each with its parameters and its messages where it has any.

| module                  | what it is                                                                            |
|-------------------------|---------------------------------------------------------------------------------------|
| `delay`                 | how long to wait for something whose delay varies                                     |
| `digest`                | which of the newest notifications a node has, in a few bytes                          |
| `election`, `overlay`   | the tree of brokers: who makes it, and what an agent sees of it                       |
| `flood`                 | what flooding and gossip share: the first copy is delivered, and perhaps repeated     |
| `given_tree`            | the tree that a scenario gives                                                        |
| `jitter`                | random delays, so that two nodes that answer the same frame do not collide            |
| `link`, `direct_link`   | reliable messages in order to a neighbour, over links that lose or do not lose     |
| `bundling_link`, `bundle`, `bundle_parameters` | the same in few frames, each for several neighbours             |
| `link_estimator`        | how good the links to neighbours are                                                  |
| `recent`                | a bounded memory of what was seen                                                     |
| `sequence`              | sequence numbers that roll over                                                       |
| `trickle`               | heartbeats that become rare while nothing changes                                     |
"""
