"""Clients that leave and return: the deliveries of each family of protocols, and their cost.

The sweep `returning` varies how long clients are away and whether they announce it. `metrics` measures what is stored
for them and what they get after their return, and `study` plans the figures and the table.
"""
