"""AODV (RFC 3561) with the publish/subscribe layer of the thesis (the thesis, section 4.5)."""

from roambus.python_protocol.aodv.agent import Aodv
from roambus.python_protocol.aodv.parameters import AodvParameters

__all__ = ["Aodv", "AodvParameters"]
