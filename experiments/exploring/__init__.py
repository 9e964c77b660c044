"""Every order of events: agents are explored as they are, in all states that a small network can reach.

| module            | what it does                                                               |
|-------------------|----------------------------------------------------------------------------|
| `scenario_file`   | what is explored: a transcript's head, what may happen, what must hold     |
| `shapes`          | all connected graphs and all trees of N nodes; nodes that look alike       |
| `transcripts`     | the first state from a transcript, and a transcript from steps             |
| `state`           | states of agents as values, and agents from them                           |
| `nodes`           | what single nodes do, worked out once                                      |
| `world`           | links, places, wishes and history; what commands do to them                |
| `rules`           | what a state and a step are, and what a network does beside its agents     |
| `network`         | the steps from each state of a whole network                               |
| `search`          | all states, the nearest first                                              |
| `livelock`        | messages that go on for ever                                               |
| `properties`      | what must hold                                                             |
| `probes`          | asks properties of states; publishes in a copy of a quiet network          |
| `exploration`     | one exploration, from its file to what is wrong                            |
| `random_networks` | random trees, graphs, fields and sites, and delays of their links          |
| `histories`       | random histories, drawn and made smaller                                   |
| `hunt`            | runs random histories, one after the other                                 |
"""
