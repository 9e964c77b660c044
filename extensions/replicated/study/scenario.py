"""Draws random trees of sites, interests and failures from the run's seed, the same for every variant.

Of n sites the brokers are nodes 0 to 3 n - 1, three a site; then each site has a publisher, then a subscriber.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from roambus.experiments.random_scenarios import random_tree
from roambus.extensions.replicated.sites import BROKERS_A_SITE
from roambus.python_protocol.roles import NodeId
from roambus.python_protocol.settings import unknown

_FAULTS = ("crash", "freeze")
_PLACES = {"leader": 0, "replica": 1}
"""The places of a site's brokers: first leader, then the next."""
_SEQUENCER, _EACH = "sequencer", "each"
_DOWN_MS = 2000
"""The time that a failed broker is down."""


@dataclass(frozen=True, slots=True)
class Failure:
    """`faults` is a value of SN.node[`node`].faults."""

    node: NodeId
    faults: str


def random_sites(seed: int, sites: int) -> str:
    """Return the parameter `sites`, a uniformly random tree with root 0."""
    parents = random_tree(sites, Random(f"sites/{seed}/{sites}"))
    return ";".join(_site(site, sites, parents.get(site)) for site in range(sites))


def interested_sites(seed: int, sites: int, share: float) -> list[int]:
    """Return the sites with an interested subscriber: a rounded share; larger shares include smaller."""
    if not 0 <= share <= 1:
        raise ValueError(f"interested {share}: a share is between 0 and 1")
    order = list(range(sites))
    Random(f"interested sites/{seed}/{sites}").shuffle(order)
    return sorted(order[: round(share * sites)])


def random_site(seed: int, sites: int, purpose: str) -> int:
    """Return one of the sites, for some purpose."""
    return Random(f"site/{purpose}/{seed}/{sites}").randrange(sites)


def random_failures(seed: int, sites: int, fault: str, start: int) -> list[Failure]:
    """Return failures of two seconds that begin within a second after `start` (s); raises ValueError.

    `fault` is leader-, replica-, sequencer- (the root's leader) or each- (one broker a site), and crash or freeze.
    """
    whose, _, kind = fault.partition("-")
    if whose not in (*_PLACES, _SEQUENCER, _EACH) or kind not in _FAULTS:
        kinds = {f"{place}-{fault}": None for place in (*_PLACES, _SEQUENCER, _EACH) for fault in _FAULTS}
        raise ValueError(unknown("fault", fault, kinds))
    if whose == _EACH:
        return [_failure(site, Random(f"failure/{seed}/{sites}/{site}"), None, kind, start) for site in range(sites)]
    site = 0 if whose == _SEQUENCER else random_site(seed, sites, "failure")
    return [_failure(site, Random(f"failure/{seed}/{sites}"), _PLACES.get(whose, 0), kind, start)]


def _failure(site: int, random: Random, place: int | None, kind: str, start: int) -> Failure:
    """Return the failure of the broker at a site's place, or of any."""
    at_ms = 1000 * start + random.randrange(1000)
    node = BROKERS_A_SITE * site + (random.randrange(BROKERS_A_SITE) if place is None else place)
    return Failure(node, f"{at_ms}ms {kind}, {at_ms + _DOWN_MS}ms recover")


def _site(site: int, sites: int, parent: int | None) -> str:
    """Return a site as the parameter has it."""
    first = BROKERS_A_SITE * site
    clients = BROKERS_A_SITE * sites + site
    above = "" if parent is None else f"@site{parent}"
    return f"site{site}{above}:{first}..{first + BROKERS_A_SITE - 1}/{clients}+{clients + sites}"


TEMPLATE_FUNCTIONS = (
    interested_sites,
    random_failures,
    random_site,
    random_sites,
)
