"""What migrations cost: messages and bytes of each protocol over the size of the network and over subscriptions.

The sweep `migration-cost` moves brokers and clients in random trees (`migrations.ini.j2`); `study` plans the figures
and the table.
"""
