"""MFT-PubSub: publish/subscribe in which clients and brokers move and fail (the thesis, chapter 4).

| module       | what it is                                                                  | source              |
|--------------|-----------------------------------------------------------------------------|---------------------|
| `agent`      | puts election, link, broker and client on a node, with any roles            | sections 2.2, 2.5   |
| `broker`     | the algorithms, by message                                                  | algorithms 4.1-4.4  |
| `client`     | subscriber and publisher: numbers its messages, migrates, mends its filters | sections 2.2, 4.3   |
| `messages`   | SUB, UNS, PUB, MIG, REP, FILTERS, BMIG, BQUERY, BSUB and their bytes        | tables 2.1, 2.4, 4.1 |
| `routing`    | R_i: next hop and filters of each subscriber                                | table 2.3           |
| `storage`    | Q_i: what is kept for whom cannot be reached                                | section 4.3         |
| `timestamps` | T_i: whose word about a subscriber counts                                   | section 4.1         |
| `batches`    | many subscribers in one BQUERY or BSUB                                      | algorithm 4.2       |
| `beats`      | a broker whose heartbeats migrate                                           | docs/tuned.md       |
| `interests`  | sums of subscriptions, which heartbeats carry                               | docs/tuned.md       |
| `spreading`, `spreading_client` | notifications by broadcast, acknowledged by digests      | docs/tuned.md       |
| `parameters` | what can be set                                                             | the thesis gives none |

`broker` and `client` know neither radio nor link nor tree, and can be driven without: interfaces and messages in,
actions out. `roambus.python_protocol.parts.election` makes the tree of brokers, `roambus.python_protocol.parts.link`
the reliable FIFO links that the algorithms assume. Where the algorithms leave something open, the docstring of
`broker` says what is done.
"""

from roambus.python_protocol.mft.agent import MftPubSub

__all__ = ["MftPubSub"]
