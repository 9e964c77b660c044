"""The host: it drives the agents of one run over any back-end, and writes down what happens.

`host` takes what the back-end reports of one instant, and has everybody handle it. `agenda` holds what is due: boots,
commands, timers. `workload` has the commands of the applications, with their times. `outages` does the planned faults
to the nodes, and keeps what waits for a frozen one. `performer` carries out what agents answer: sends, timers,
deliveries, notes. `tracing` writes into the trace what the host does to the nodes. `agents` makes the agents, and says
what went wrong in one.
"""
