"""Trials: what becomes of roambus where something is damaged, killed, misbehaves, or comes uninvited.

A trial has a subject (a command, a file, an agent, a server), one harm that is done to it, and what is promised of it;
`harness` says it once for all, runs trials by seed and reports them. A chapter is a kind of trials: it declares its
subjects and harms, and yields the outcomes. `python -m benchmarks.trials KIND` runs one.
"""
