"""The other papers' protocols.

| module           | protocol                                                   | source                      |
|------------------|------------------------------------------------------------|-----------------------------|
| `simple`         | Simple Routing in a static tree of brokers                 | the thesis, section 2.3     |
| `phoenix`        | clients move among static brokers and lose nothing         | the thesis, section 2.4     |
| `first_approach` | clients and brokers move                                   | the thesis, chapter 3       |
| `resubscribing`  | a baseline: each migration floods subscriptions            | first approach, section 3.2 |
| `caching`        | brokers keep messages for absent clients                   | caching                     |
| `replicated`     | sites of three brokers, any one of which may fail          | replicated brokers          |
| `skip_ring`      | a supervised, self-stabilising overlay                     | skip ring                   |
"""
