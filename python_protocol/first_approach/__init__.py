"""The first approach: publish/subscribe in which clients and brokers move (the thesis, chapter 3).

The paper on the first approach has it, too, in its algorithms 2 and 3. Sections and tables below are the thesis'.

| module             | what it is                                        | source              |
|--------------------|---------------------------------------------------|---------------------|
| `agent`            | puts tree, link, broker and client on a node      | sections 2.2, 2.5   |
| `broker`           | the algorithms, a handler each                    | algorithms 3.1-3.3  |
| `client`           | subscriber and publisher: migrates, mends filters | sections 3.2, 3.3   |
| `messages`         | MIG, REP, BMIG, BTAB, FMIG and their bytes        | tables 2.4 and 3.1  |
| `parameters`       | what can be set                                   | the thesis gives none |
| `brokers.messages` | SUB, UNS, PUB, FILTERS                            | tables 2.1 and 3.1  |
| `brokers.routing`  | R_i: filters and next hops of each subscriber     | table 2.3           |
| `brokers.storage`  | Q_i: what is kept for whom cannot be reached      | section 3.3         |

Its known defect is the phantom: a subscription that ended in one partition lives on in the other, and comes back with
the merge (section 3.5). MFT-PubSub (`roambus.python_protocol.mft`) mends that.
"""

from roambus.python_protocol.first_approach.agent import FirstApproach

__all__ = ["FirstApproach"]
