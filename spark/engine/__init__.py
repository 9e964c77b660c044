"""Starts Spark with only necessary ports, and leaves no files behind.

`session` starts and ends it, locally, on a cluster or on a server. `java` runs a fitting Java. `shipment` makes our
package importable in tasks. `write_class_archive` halves later starts.
"""
