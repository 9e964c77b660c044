"""Draws what is random in a scenario, from the run's seed, before the run starts: every agent gets the same.

Templates call these functions. `trees` draws trees of brokers and migrations in them, `population` clients that come,
move and go, `returning_clients` clients that leave and return, `sites` the sites of replicated brokers,
`skip_ring_commands` who publishes, joins and leaves in a skip ring, and `steady_state` where nodes are that have long
been moving.
"""
