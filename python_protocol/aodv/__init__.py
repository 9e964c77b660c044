"""AODV (RFC 3561) with the publish/subscribe layer of the thesis (the thesis, section 4.5).

Each module imports only those before it:

| module          | sections            | holds                                                                    |
|-----------------|---------------------|--------------------------------------------------------------------------|
| `messages`      | 5                   | the fields of each message                                               |
| `parameters`    | 10                  | constants, switches, and the profiles `thesis` and `derived`             |
| `routing_table` | 2, 6.1, 6.2, 6.7    | routes, their states, sequence numbers and precursors                    |
| `transmission`  | 6.10                | the link layer, jitter, rate limits                                      |
| `maintenance`   | 6.8, 6.9, 6.11      | neighbours and the blacklist; route errors                               |
| `discovery`     | 6.3, 6.4, 6.5, 6.12 | searches with the expanding ring, the request queue, the RREQs heard     |
| `agent`         | 6                   | the handlers of messages, timers and events, in the order of the RFC     |
"""

from roambus.python_protocol.aodv.agent import Aodv
from roambus.python_protocol.aodv.parameters import AodvParameters

__all__ = ["Aodv", "AodvParameters"]
