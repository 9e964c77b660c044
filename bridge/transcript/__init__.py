"""Transcripts: a network, commands, and the exact messages that follow, for readers and tests.

docs/guide/transcripts.md is the reference of the language.

- `transcript`: from file to file.
- `document`: the file's lines, and the names of filters and events.
- `head`: agent, seed, times and network.
- `network`: trees, links, fields and node names.
- `commands`: the commands and their sentences.
- `timeline`: turns commands into a scenario.
- `journal`: agents' events and actions, and the lines that show them.
- `by_hand`: agents whose timers and chance a transcript controls.
"""
