"""Clients that leave and return: what each family of protocols delivers to them, and what that costs.

The sweep `returning` varies how long clients are away and whether they announce it. `metrics` measures what is stored
for them and what they get after their return, and `study` plans the figures and the table.
"""
