"""Parts that several protocols share, each with its parameters and its messages where it has any.

| chapter         | holds                                                                                     |
|-----------------|-------------------------------------------------------------------------------------------|
| `link`          | reliable messages in order to a neighbour; estimates of delays; sequence numbers          |
| `bundling_link` | the same in few frames, each for several neighbours                                       |
| `bundle`        | the frame for several neighbours, and digests of what a node has                          |
| `election`      | the tree of brokers: who leads, whose child a node is, and what an agent sees of it       |
"""
