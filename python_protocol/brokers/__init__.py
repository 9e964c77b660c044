"""The parts that the protocols with brokers share: those of the thesis and of the paper on caching.

`agent` puts tree, link, broker and client together; `broker` has interfaces, shared messages, table and queues;
`client` a client's filters and waiting notifications.
"""
