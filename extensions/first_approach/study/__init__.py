"""The cost of migrations: messages and bytes over network size and over subscriptions."""
