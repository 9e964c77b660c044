"""The host drives the agents of one run over any back-end, and writes the trace.

`event_loop` handles each instant; `event_queue` has the times of boots, commands, timers and faults. `agents` makes and
calls agents; `codec` compares sampled messages with their bytes.
"""
