"""The host drives the agents of one run over any back-end, and writes the trace.

- `event_loop`: what the back-end reports of one instant is handled, and what agents answer is carried out.
- `event_queue`: what is due, and when: boots, commands, timers, faults.
- `agents`: how agents are made and called, and what went wrong in one.
- `codec`: messages are their bytes, which is checked in a sample of those that are sent.
"""
