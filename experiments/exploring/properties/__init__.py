"""What must hold in every state of a network, or in every quiet one: properties by name, and one's own.

`property` says what a property is. `ways` reads the tables of the agents that come with roambus. `routing`,
`delivering` and `leaders` have the properties. `catalogue` has them by name, and loads those of a user.
"""
