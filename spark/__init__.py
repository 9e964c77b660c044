"""The data pipeline: trace schema, metrics and jobs on Spark."""
