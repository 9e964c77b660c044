"""Replicated brokers: flooding against filtering, the cost of order, and delays by failures."""
