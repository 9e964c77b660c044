"""Parts that several protocols share, each with its parameters and its messages.

`link` has reliable messages to a neighbour, delays and sequence numbers, `digest` a node's newest notifications in a
few bytes, `election` the tree of brokers.
"""
