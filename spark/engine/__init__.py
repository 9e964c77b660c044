"""Starts Spark: a session that listens only where it has to, and leaves nothing behind.

`session` starts and ends it, `java` finds a Java that fits, `jvm` starts it and tells how it ended, `losses` lets
PySpark forget one that has ended, and `master` checks where the master of a cluster is.
"""
