"""Starts Spark with only necessary ports, and leaves no files behind.

`session` starts and ends it, locally or on a cluster. `java` runs a fitting Java. `shipment` makes our
package importable in tasks.
"""
