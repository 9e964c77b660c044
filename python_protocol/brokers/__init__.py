"""What the protocols of the broker family share: simple routing, Phoenix, the first approach, MFT-PubSub (003)."""
