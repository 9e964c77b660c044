"""Replicated brokers: flooding against filtering, what order costs, and how long a failure holds events up.

Each of these questions has a sweep (`replicated-routing`, `replicated-order`, `replicated-faults`,
`replicated-sites`) over one template.
`metrics` counts what sites send each other, `claims` reads the sentences of the paper on replicated brokers, and
`study` plans the figures and tables.
"""
