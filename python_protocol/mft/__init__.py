"""MFT-PubSub: publish/subscribe in which clients and brokers move and fail (the thesis, chapter 4).

| chapter      | holds                                                                           | source              |
|--------------|---------------------------------------------------------------------------------|---------------------|
| `agent`      | election, link, broker and client put on a node, with any roles                 | sections 2.2, 2.5   |
| `broker`     | the algorithms, by message                                                      | algorithms 4.1-4.4  |
| `forwarding` | notifications forwarded, stored and replayed                                    | algorithms 3.1, 3.2 |
| `client`     | subscriber and publisher: numbers its messages, migrates, corrects its filters  | sections 2.2, 4.3   |
| `messages`   | the messages and their bytes, T_i and the routing table R_i                     | tables 2.1-2.4, 4.1 |
| `parameters` | what can be set                                                                 | the thesis has none |

`broker` and `client` know neither radio nor link nor tree, and can be driven without: interfaces and messages in,
actions out. `roambus.python_protocol.parts.election` makes the tree of brokers, `roambus.python_protocol.parts.link`
the reliable FIFO links that the algorithms assume. Where the algorithms leave something open, the docstring of
`broker` says what is done.
"""

from roambus.python_protocol.mft.agent import MftPubSub

__all__ = ["MftPubSub"]
