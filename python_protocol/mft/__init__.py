"""MFT-PubSub: publish/subscribe in which clients and brokers move and fail (the thesis, chapter 4).

`agent` puts election, link, broker and client together (sections 2.2, 2.5); `broker` has algorithms 4.1-4.4,
`forwarding` 3.1 and 3.2, `client` sections 2.2 and 4.3, `messages` tables 2.1-2.4 and 4.1. `broker` and `client` know
neither radio nor link nor tree, so tests drive them alone: messages in, actions out.
"""

from roambus.python_protocol.mft.agent import MftPubSub

__all__ = ["MftPubSub"]
