"""Transcripts: a network, commands, and the exact messages that follow, as texts that people read and tests compare.

docs/guide/transcripts.md is the reference of the language.

- `transcript`: from file to file, the whole way.
- `document`: the lines of the file, and the names of filters and events.
- `head`: agent, seed, times and network.
- `network`: trees, links and fields, with the names of their nodes.
- `commands`: what can be written, and what it means.
- `timeline`: commands become a scenario and stretches of time.
- `journal`: what the agents are told and do, and the lines that say so.
- `by_hand`: agents whose timers and chance a transcript works.
"""
