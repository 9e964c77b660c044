"""The host drives the agents of one run over any back-end, and writes the trace.

- `event_loop`: handles the events of an instant and carries out the agents' actions.
- `event_queue`: boots, commands, timers and faults, each with its time.
- `agents`: makes and calls agents, and describes their errors.
- `codec`: compares a sample of the messages with their bytes.
"""
