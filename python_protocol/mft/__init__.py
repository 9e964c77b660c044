"""MFT-PubSub: publish/subscribe in which clients and brokers move and fail (003, chapter 4).

`broker` and `client` are the algorithms, without radio or link; `agent` puts them on a node.
"""

from python_protocol.mft.agent import MftPubSub

__all__ = ["MftPubSub"]
