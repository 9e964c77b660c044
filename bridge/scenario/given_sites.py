"""Checks that the sites of a scenario and the roles of its nodes go together: brokers are brokers, clients are not."""

from __future__ import annotations

from collections.abc import Sequence

from roambus.python_protocol.roles import Role
from roambus.python_protocol.sites import Sites


def check_roles(sites: Sites, roles: Sequence[Role]) -> None:
    """Raises ValueError for a node without a site, or with roles of both a broker and a client."""
    brokers = {node for site in sites for node in site.brokers}
    for node, its in enumerate(roles):
        if node not in sites.of_node:
            raise ValueError(f"node {node} is in no site")
        if node in brokers and its != Role.BROKER:
            raise ValueError(
                f"node {node} is a broker of a site: its role must be broker, and clients need other nodes"
            )
        if node not in brokers and Role.BROKER in its:
            raise ValueError(f"node {node} is a client of a site, so it cannot have the role broker")
