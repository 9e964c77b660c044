"""MFT-PubSub: publish/subscribe in which clients and brokers move and fail (the thesis, chapter 4).

| module       | holds                                                              | source              |
|--------------|--------------------------------------------------------------------|---------------------|
| `agent`      | election, link, broker and client on a node, with any roles        | sections 2.2, 2.5   |
| `broker`     | the algorithms, by message                                         | algorithms 4.1-4.4  |
| `forwarding` | notifications forwarded, stored and replayed                       | algorithms 3.1, 3.2 |
| `client`     | subscriber and publisher: numbers, migrations, corrections         | sections 2.2, 4.3   |
| `messages`   | the messages and their bytes, T_i and the routing table R_i        | tables 2.1-2.4, 4.1 |
| `parameters` | the parameters                                                     | the thesis has none |

`broker` and `client` know neither radio nor link nor tree, so tests drive them alone: messages in, actions out.
"""

from roambus.python_protocol.mft.agent import MftPubSub

__all__ = ["MftPubSub"]
