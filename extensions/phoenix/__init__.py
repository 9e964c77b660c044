"""Phoenix: clients move in a static tree of brokers (the thesis, section 2.4).

`broker` has algorithms 2.2 and 2.3 as published (`number_migrations` false), `numbered` the default, which prevents
their faults: over reliable links every subscriber gets every notification once, in order from each publisher that
stays. Subscribe after the election, or let the scenario give the tree.
"""

from roambus.extensions.phoenix.agent import Phoenix

__all__ = ["Phoenix"]
