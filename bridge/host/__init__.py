"""The host drives the agents of one run over any back-end, and writes the trace.

- `event_loop`: handles each instant's events and the agents' actions.
- `event_queue`: times of boots, commands, timers and faults.
- `agents`: makes and calls agents, and describes their errors.
- `codec`: compares sampled messages with their bytes.
"""
