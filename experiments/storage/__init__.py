"""Results on an object store, such as `s3://bucket/thesis`: a mirror on this machine, and what keeps both alike.

An object store can neither rename nor append: an object is put there whole, or not at all. So runs are made, and
results are read, in a mirror, which is a folder on this machine. `address` is a place on a store, `objects` puts, gets
and lists what is there, and `mirror` fetches what is new there and publishes what is new here.
"""
