"""`roambus new`: packages of agents that work at once, for the user to change.

`writer` checks the name of an agent and writes its package, from the templates in `package/`.
"""
