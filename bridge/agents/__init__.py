"""Agents as users name them: found, imported and checked before a run begins.

`registry` finds an agent by the name of an entry point, as `module:Class`, or in a file. `imports` imports what users
name, and turns whatever goes wrong into one message with its place. `checks` looks at the agent's class before it is
run.
"""
