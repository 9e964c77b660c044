"""Verifies results: makes a sample of their runs again, and compares the traces byte for byte.

`verification` does it, in folders of its own: nothing in the results changes.
"""
