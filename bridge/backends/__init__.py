"""Back-ends carry the agents' messages; they have one interface, and pass one suite of tests.

- `roambus.bridge.backend` is the interface of them all.
- `registry`: how a run gets one by its name, also from other packages.
- `ideal`: perfect links.
- `radio`: the embedded radio.
- `castalia`: real Castalia, in a process of its own.
- `ns3`: ns-3, likewise.
"""
