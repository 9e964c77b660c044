"""What sections 6 and 7 of the paper on caching say, each sentence with one precise reading."""

from __future__ import annotations

from roambus.experiments.evidence.claim import ClaimTest
from roambus.experiments.evidence.rule import Side
from roambus.experiments.studies.caching.metrics import ABSORPTION_S, GAIN_PERCENT, LOST_RATIO
from roambus.experiments.studies.caching.readings import (
    ABSENCE,
    BROKERS,
    RATE,
    all_arrive,
    bends_upwards,
    exponential,
    highest_gain,
    lost_without,
    lower_at_low_loads,
    no_delay,
    one_response,
    over_sizes,
    trend,
)

ABSENCE_CLAIMS = (
    ClaimTest(
        "Increasing the time for which a client is mobile increases the mean absorption time (figure 4a).",
        "At each load its slope over doublings of the mean absence is above 0.",
        trend(ABSORPTION_S, ABSENCE, Side.ABOVE),
    ),
    ClaimTest(
        "With both dropping mechanisms there is only one response per successful request.",
        "At each load less than 0.5 % of the responses bring a message that came before for the same request.",
        one_response(ABSENCE),
    ),
    ClaimTest(
        "For low mobile intervals the gain is more than 250 % (figure 4b).",
        "Without dropping, at the shortest absence and the highest load, each first response has 2.5 further ones.",
        highest_gain(ABSENCE, 250),
    ),
    ClaimTest(
        "At high mobile intervals the gain is less, for messages contend for the caches.",
        "At each load the slope of the gain over doublings of the mean absence is below 0.",
        trend(GAIN_PERCENT, ABSENCE, Side.BELOW),
    ),
    ClaimTest(
        "At low client dynamics the gain is low.",
        "The gain, mean over absences, is higher at each load than at the one below.",
        lower_at_low_loads,
    ),
    ClaimTest(
        "Higher mobile intervals increase the lost message ratio (figure 4c).",
        "At each load its slope over doublings of the mean absence is above 0.",
        trend(LOST_RATIO, ABSENCE, Side.ABOVE),
    ),
    ClaimTest(
        "We can identify the exponential nature of the absorption time (figure 4a): its distribution.",
        "At each load the median of messages that were cached is 0.69 of their mean, and their last tenth begins at "
        "2.30 of it, both to a tenth; mean over absences.",
        exponential(ABSENCE),
    ),
    ClaimTest(
        "We can identify the exponential nature of the absorption time (figure 4a): its curve.",
        "At each load it bends upwards: its slope between the longest two absences is above that of the shortest two.",
        bends_upwards,
    ),
)
RATE_CLAIMS = (
    ClaimTest(
        "Increasing the publication rate makes messages contend for the caches (figure 4d).",
        "At each load the slope of the absorption time over doublings of the rate is below 0.",
        trend(ABSORPTION_S, RATE, Side.BELOW),
    ),
    ClaimTest(
        "At low publication rates the gain is 350 % (figure 4e).",
        "Without dropping, at the lowest rate and the highest load, each first response has 3.5 further ones.",
        highest_gain(RATE, 350),
    ),
    ClaimTest(
        "At high publication rates the gain is less.",
        "At each load the slope of the gain over doublings of the rate is below 0.",
        trend(GAIN_PERCENT, RATE, Side.BELOW),
    ),
    ClaimTest(
        "Higher publication rates increase the lost message ratio (figure 4f).",
        "At each load its slope over doublings of the rate is above 0.",
        trend(LOST_RATIO, RATE, Side.ABOVE),
    ),
    ClaimTest(
        "With both dropping mechanisms there is only one response per successful request, at every publication rate.",
        "At each load less than 0.5 % of the responses bring a message that came before for the same request.",
        one_response(RATE),
    ),
    ClaimTest(
        "We can identify the exponential nature of the absorption time (figure 4d): its distribution.",
        "At each load the median of messages that were cached is 0.69 of their mean, and their last tenth begins at "
        "2.30 of it, both to a tenth; mean over rates.",
        exponential(RATE),
    ),
)
SIZE_CLAIMS = (
    ClaimTest(
        "Whatever the size of the caches, longer mobile intervals increase the absorption time.",
        "At each load and size it is longer at the longest mean absence than at the shortest.",
        over_sizes(ABSORPTION_S, Side.ABOVE),
    ),
    ClaimTest(
        "Whatever the size of the caches, longer mobile intervals lower the gain.",
        "At each load and size it is lower at the longest mean absence than at the shortest.",
        over_sizes(GAIN_PERCENT, Side.BELOW),
    ),
    ClaimTest(
        "Whatever the size of the caches, longer mobile intervals increase the lost message ratio.",
        "At each load and size it is higher at the longest mean absence than at the shortest.",
        over_sizes(LOST_RATIO, Side.ABOVE),
    ),
)
BROKERS_CLAIMS = (
    ClaimTest(
        "The overhead gain increases with the number of nodes in the network.",
        "At each load the slope of the gain over doublings of the number of brokers is above 0.",
        trend(GAIN_PERCENT, BROKERS, Side.ABOVE),
    ),
)
MOVE_CLAIMS = (
    ClaimTest(
        "With support all the published messages finally arrive to the client (figure 5).",
        "No message is missing, at either rate.",
        all_arrive,
    ),
    ClaimTest(
        "Without support the client misses what is published while it is disconnected (figure 5).",
        "Messages are missing, at either rate.",
        lost_without,
    ),
    ClaimTest(
        "There is no delay due to the processing associated with relocation.",
        "The last of what was kept is there less than a second after the client is back.",
        no_delay,
    ),
)
