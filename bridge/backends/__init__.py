"""Back-ends carry the agents' messages; they share one interface and one test suite.

- `roambus.bridge.backend`: the interface.
- `registry`: back-ends by name, also from other packages.
- `ideal`: perfect links.
- `radio`: the embedded radio.
- `castalia`, `ns3`: these simulators, each in its own process.
"""
