"""Clients that leave and return: deliveries and cost of each family of protocols."""
