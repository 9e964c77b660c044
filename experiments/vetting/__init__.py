"""Vets agents: runs anybody's agent through what every agent must bear, and tells what it does not.

`vetting` starts processes that all do the same, each with another hash seed, another order and another working folder,
and compares their traces. `examination` is what happens in such a process: it makes the runs of `scenes`, in which
nodes crash, freeze and leave, and looks at the agent by `round_trips` (its messages, with values that `generating`
makes of the types of their fields), `strangers` (messages that it does not know) and `shared_memory` (what its nodes
have in common). `sources` says which lines take time or chance from elsewhere, and `finding` is what is found.
"""
