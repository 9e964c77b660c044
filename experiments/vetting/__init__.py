"""Vets agents: runs anybody's agent through what every agent must bear, and tells what it does not.

`examination` runs the agent in several processes and compares what comes out.
`messages` takes its messages to bytes and back, and hands it messages that it does not know.
`findings` says what is wrong and where: memory that nodes share, and lines that take time or chance from elsewhere.
"""
