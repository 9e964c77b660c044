"""Starts Spark with only necessary ports, and leaves no files behind.

`installed` refuses another PySpark. `session` starts and ends Spark, locally or on a cluster. `java` runs a fitting
Java. `shipment` makes our package importable in tasks.
"""

from roambus.spark.engine.installed import check_installed

check_installed()  # before anything is imported from PySpark
