"""`roambus new`: packages of agents that work at once, for the user to change.

`writer` fills in the templates in `package/`.
"""
