"""Phoenix: clients move in a static tree of brokers (the thesis, section 2.4).

`agent` has the node and its clients, `broker` algorithms 2.2 and 2.3 as published, and `numbered` the default, which
prevents their faults. Over reliable links every subscriber gets every notification once, in order from each publisher
that stays; not as published (`number_migrations` false). Subscribe after the election, or let the scenario give the
tree.
"""

from roambus.python_protocol.papers.phoenix.agent import Phoenix

__all__ = ["Phoenix"]
