"""Results on an object store: the extension behind addresses such as `s3://bucket/thesis`."""
