"""The parameters of caching, those of election and link included."""

from __future__ import annotations

from roambus.python_protocol.brokers.parameters import BrokerParameters
from roambus.python_protocol.caching.policies import POLICIES
from roambus.python_protocol.parameters import parameter


class CachingParameters(BrokerParameters):
    """What can be set for caching."""

    cache_size: int = parameter(
        64,
        unit="messages",
        source="the paper on caching, section 6: k, of which the paper gives no value",
        at_least=0,
        doc="messages that a broker's cache holds, ordinary and emergency cache together",
    )
    policy: str = parameter(
        "fifo-regeneration",
        source="the paper on caching, section 3.2",
        choices=POLICIES,
        doc="which message leaves a full cache",
    )
    mobility_support: bool = parameter(
        True,
        source="the paper on caching, section 4",
        doc="a client that detaches has its messages kept; false: it unsubscribes, and subscribes anew when it is back",
    )
    request_old: bool = parameter(
        False,
        source='the paper on caching, section 3.2: "a client node interested in old content"',
        doc="a client that subscribes asks for what was published before",
    )
    reactive: bool = parameter(
        True,
        source="the paper on caching, section 5",
        doc="a broker drops a response whose message it has in its cache",
    )
    proactive: bool = parameter(
        True,
        source="the paper on caching, section 5",
        doc="a request tells what was responded on its way, so that it is not responded again",
    )
    spare_kept: bool = parameter(
        True,
        source='the paper on caching, section 5, reads "each response message"; by section 4 one broker alone responds',
        doc="the reactive mechanism lets what was kept for a client pass; false: to the letter",
    )
    drop_by_request: bool = parameter(
        True,
        source="the paper on caching, section 5, compares with the cache, where the message can be for another reason",
        doc="the reactive mechanism drops what has passed for the same request; false: what is in the cache",
    )
    follow_client: bool = parameter(
        True,
        source="the paper on caching, section 4, has a client wait until it has what was kept for it",
        doc="what comes for a client that has moved on goes after it, also back to where it was; false: is lost",
    )
    find_left: bool = parameter(
        True,
        source='the paper on caching, section 4: the request "will reach according to [6]" the broker that was left',
        doc="a client's return is told to all brokers; false: to those known to have a subscription, which may be news",
    )
    deliver_once: bool = parameter(
        True,
        source="the paper on caching says nothing of messages that are under way while a client returns",
        doc="a client delivers a message that it gets both as published and in a response once; false: twice",
    )
    remembered: int = parameter(
        4096,
        unit="messages",
        source="reasoned: several full caches",
        at_least=1,
        doc="what a client remembers of what it has received, and a broker of what has passed for requests",
    )
