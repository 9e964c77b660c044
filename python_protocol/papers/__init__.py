"""The other papers' protocols.

- `simple`: Simple Routing in a static tree of brokers (the thesis, section 2.3).
- `phoenix`: clients move among static brokers (the thesis, section 2.4).
- `first_approach`: clients and brokers move (the thesis, chapter 3).
- `resubscribing`: a baseline that floods subscriptions (first approach, section 3.2).
- `caching`: brokers keep messages for absent clients.
- `replicated`: sites of three brokers, any one of which may fail.
- `skip_ring`: a supervised, self-stabilising overlay.

`trees` draws trees of brokers for their evaluations.
"""
