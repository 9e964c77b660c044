"""The other protocols of the papers, beside AODV and MFT-PubSub, each in a chapter or a folder of its own.

| chapter          | what it is                                                 | the thesis, or the paper on |
|------------------|------------------------------------------------------------|-----------------------------|
| `simple`         | Simple Routing in a tree of brokers in which nothing moves | the thesis, section 2.3 |
| `phoenix`        | clients move about a static tree, and lose nothing         | the thesis, section 2.4 |
| `first_approach` | clients and brokers move                                   | the thesis, chapter 3 |
| `resubscribing`  | the baseline of these: subscriptions flood the tree again  | first approach, section 3.2 |
| `caching`        | brokers keep messages for clients that are away            | caching |
| `replicated`     | sites of three brokers, any one of which may fail          | replicated brokers |
| `skip_ring`      | a supervised overlay that stabilises itself from any state | skip ring |

The first five belong to the broker family: `brokers` has what they share. None of them needs another, but for caching,
which has the SUB and UNS of Simple Routing.
"""
