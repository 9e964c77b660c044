"""The host: it drives the agents of one run over any back-end, and writes down what happens.

`event_loop` takes what the back-end reports of one instant, has everybody handle it, and carries out what agents
answer: sends, timers, deliveries, notes. `agenda` holds what is due: boots, commands, timers. `workload` has the
commands of the applications, with their times, and does the planned faults to the nodes. `agents` makes the agents, and
says what went wrong in one. `codec` sees that messages are their bytes, in a sample of those that are sent.
"""
