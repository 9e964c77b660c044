"""Transcripts: a network, commands, and the exact messages that follow, for readers and tests.

docs/guide/transcripts.md is the language reference.

- `transcript`: from file to file.
- `document`: lines, and names of filters and events.
- `head`: agent, seed, times and network.
- `network`: trees, links, fields and node names.
- `commands`: commands and their sentences.
- `timeline`: turns commands into a scenario.
- `journal`: agents' events and actions as lines.
- `by_hand`: agents with scripted timers and chance.
"""
