"""Starts Spark: a session that opens only necessary ports, and leaves no files behind.

`session` starts and ends it, on this machine, on a cluster or on a server.
`java` finds a Java that fits, starts it, and reports how it ended.
`shipment` makes our package importable where tasks run.
`write_class_archive` makes the next starts twice as fast.
"""
