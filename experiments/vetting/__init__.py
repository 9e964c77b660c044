"""Vets agents: runs an agent in scenes that every agent must survive, and reports its mistakes.

`examination` runs the agent in several processes and compares what comes out.
`messages` takes its messages to bytes and back, and hands it messages that it does not know.
`findings` says what is wrong and where: memory that nodes share, and lines that take time or chance from elsewhere.
"""
