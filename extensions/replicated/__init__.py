"""Replicated brokers: sites of three brokers in a tree, which survive any one failure.

Sections are those of the paper. An event goes from `agent` to `broker` or `client`, on to the side of its sender, and
to `replica`, which returns the site's messages. `succession` chooses the leader, and `neighbours` watches other nodes.
`site_state` has routing, order and bytes.
"""

from roambus.extensions.replicated.agent import Replicated

__all__ = ["Replicated"]
