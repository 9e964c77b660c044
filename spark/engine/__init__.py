"""Starts Spark: a session that opens only the necessary ports and leaves no files behind.

`session` starts and ends it, on this machine, on a cluster or on a server. `java` finds and runs a Java that fits.
`shipment` makes our package importable on executors.
"""
