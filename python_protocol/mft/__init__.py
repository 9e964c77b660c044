"""MFT-PubSub: publish/subscribe in which clients and brokers move and fail (the thesis, chapter 4).

`agent` has the client (sections 2.2 and 4.3) and the node, `broker` algorithms 4.1-4.4, `forwarding` 3.1 and 3.2,
`messages` tables 2.1-2.4 and 4.1. Broker and client know neither radio nor link nor tree, so tests drive them alone:
messages in, actions out.
"""

from roambus.python_protocol.mft.agent import MftPubSub

__all__ = ["MftPubSub"]
