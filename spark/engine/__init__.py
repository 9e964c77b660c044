"""Starts Spark: a session that listens only where it has to, and leaves nothing behind.

`session` starts and ends it, `java` finds a Java that fits, and `master` checks where the master of a cluster is.
"""
