"""Protocols for a slow channel: thesis and tuned profiles of MFT-PubSub and AODV beside flooding and gossip.

`tuned` has the thesis' sizes and speeds, `tuned-static` nodes that stay where they are. `tuned-mft-changes` and
`tuned-aodv-changes` are the ablations: each change of a profile alone, and each left out.
"""
