"""Parts that several protocols share, each with its parameters and its messages.

| module     | holds                                                                    |
|------------|--------------------------------------------------------------------------|
| `link`     | reliable messages in order to a neighbour; delays; sequence numbers      |
| `digest`   | the newest notifications of a node in a few bytes                        |
| `election` | the tree of brokers: leader, parent and children                         |
"""
