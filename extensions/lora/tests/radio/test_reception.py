"""Each condition of reception, on both sides of its threshold, on the radio itself."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from roambus.bridge.backend import Transmission
from roambus.bridge.backends.radio.backend import RadioBackend
from roambus.bridge.backends.radio.reception.registry import reception_of
from roambus.bridge.scenario.radio import InterferenceSettings
from roambus.bridge.system.errors import UserError
from roambus.extensions.lora.radio.reception import FLOOR_DB, GATEWAY, SIR_DB, adapt, kinds, noise_floor_dbm
from roambus.extensions.lora.tests.radio.runs import (
    BACK,
    LORA,
    NOISE_DBM,
    START,
    TURNAROUND,
    Data,
    Frame,
    Outcome,
    changed,
    lasting,
    run,
    scenario,
    symbol,
)
from roambus.python_protocol.roles import BROADCAST
from roambus.python_protocol.simtime import MILLISECOND, SECOND, SimTime

A, B, C, RECEIVER = 0, 1, 2, 3
LATE: SimTime = 50 * MILLISECOND
"""A frame that begins so late meets all of another one's payload that is left."""


def meet(first: float, second: float, after: SimTime = LATE, **settings: Any) -> Outcome:
    """Two frames at one receiver, with these powers."""
    law = changed(**settings)
    powers = {(A, RECEIVER): first, (B, RECEIVER): second}
    return run(scenario(powers, law), [Frame(A, 0), Frame(B, after)])


def received(outcome: Outcome) -> set[int]:
    """The numbers of the frames that were received."""
    return {number for _, number in outcome.received}


@pytest.mark.parametrize("factor", range(7, 13))
def test_a_frame_is_received_down_to_the_floor_of_its_spreading_factor(factor: int) -> None:
    """By its SNR, which is its LQI."""
    floor_dbm = NOISE_DBM + float(FLOOR_DB[factor - 7])
    law = changed(factors=(factor,))
    at = run(scenario({(A, RECEIVER): floor_dbm}, law), [Frame(A, 0)])
    below = run(scenario({(A, RECEIVER): floor_dbm - 0.01}, law), [Frame(A, 0)])
    assert (at.received, at.counts(RECEIVER)) == ([(RECEIVER, 0)], {"rx_no_interf": 1})
    assert at.lqi_db == [pytest.approx(FLOOR_DB[factor - 7])]
    assert (below.received, below.counts(RECEIVER)) == ([], {"fail_sens": 1})


@pytest.mark.parametrize(
    ("second", "numbers", "counts"),
    [
        (-106.0, {0}, {"rx_despite": 1, "fail_interf": 1}),
        (-105.9, set(), {"fail_interf": 2}),
        (-100.0, set(), {"fail_interf": 2}),
        (-94.1, set(), {"fail_interf": 2}),
        (-94.0, {1}, {"rx_despite": 1, "fail_interf": 1}),
    ],
)
def test_a_frame_survives_one_that_is_weaker_by_6_db(second: float, numbers: set[int], counts: dict[str, int]) -> None:
    """The first one at -100 dBm, or the second one, which then takes the receiver over."""
    outcome = meet(-100.0, second)
    assert (received(outcome), outcome.counts(RECEIVER)) == (numbers, counts)


def test_lqi_is_the_ratio_to_noise_and_interference() -> None:
    """Exactly added; the SNR is the one without interference."""
    (lqi,) = meet(-100.0, -106.0).lqi_db
    assert lqi == pytest.approx(-100 - 10 * math.log10(10**-11.7 + 10**-10.6))


def test_a_weak_interferer_below_the_floor_counts() -> None:
    """At an SNR of -13 dB SF9 is not received, but 4 dB below a frame it harms it."""
    outcome = meet(NOISE_DBM - 9, NOISE_DBM - 13)
    assert (received(outcome), outcome.counts(RECEIVER)) == (set(), {"fail_interf": 1, "fail_sens": 1})


@pytest.mark.parametrize(("early", "numbers"), [(0, {1}), (1, set())])
def test_the_beginning_of_a_preamble_is_not_needed(early: int, numbers: set[int]) -> None:
    """An equally strong frame may end 3 symbols after another one has begun, and not a nanosecond later."""
    outcome = meet(-100.0, -100.0, lasting() - 3 * symbol() - early)
    assert received(outcome) == numbers


@pytest.mark.parametrize(("needed", "symbols"), [(8, 0), (5, 3), (2, 6)])
def test_the_settings_say_how_much_of_it_is(needed: int, symbols: int) -> None:
    """Of 8 symbols."""
    after = lasting() - symbols * symbol()
    assert received(meet(-100.0, -100.0, after, needed=needed)) >= {1}
    assert received(meet(-100.0, -100.0, after - 1, needed=needed)) == set()


def test_an_early_preamble_harms_others_unless_the_settings_say_otherwise() -> None:
    """Bor et al. (2016) have both frames received if the parts that are needed do not meet."""
    after = lasting() - 3 * symbol()
    assert received(meet(-100.0, -100.0, after)) == {1}
    assert received(meet(-100.0, -100.0, after, preamble_harms=False)) == {0, 1}
    assert received(meet(-100.0, -100.0, after - 1, preamble_harms=False)) == set()


def test_frames_that_follow_each_other_do_not_meet() -> None:
    """At the nanosecond at which one ends the next one may begin."""
    assert received(meet(-100.0, -100.0, lasting())) == {0, 1}


@pytest.mark.parametrize(("adds_up", "numbers"), [(True, set()), (False, {0})])
def test_powers_add_up_unless_the_settings_say_otherwise(*, adds_up: bool, numbers: set[int]) -> None:
    """Two interferers of -107 dBm have -104 together."""
    powers = {(A, RECEIVER): -100.0, (B, RECEIVER): -107.0, (C, RECEIVER): -107.0}
    law = changed(adds_up=adds_up)
    outcome = run(scenario(powers, law), [Frame(A, 0), Frame(B, LATE), Frame(C, 2 * LATE)])
    assert received(outcome) == numbers
    assert sum(outcome.counts(RECEIVER).values()) == 3


def test_interferers_that_do_not_meet_do_not_add_up() -> None:
    """One ends as the other one begins."""
    powers = {(A, RECEIVER): -100.0, (B, RECEIVER): -107.0, (C, RECEIVER): -107.0}
    frames = [Frame(A, 0, 200), Frame(B, LATE), Frame(C, LATE + lasting())]
    assert LATE + 2 * lasting() < lasting(size=200)
    assert received(run(scenario(powers), frames)) == {0}


@pytest.mark.parametrize("own", range(7, 13))
@pytest.mark.parametrize("other", range(7, 13))
def test_other_spreading_factors_interfere_by_the_matrix(own: int, other: int) -> None:
    """A frame survives down to its SIR, and not below; orthogonal ones do not meet."""
    if own == other:
        return
    sir_db = float(SIR_DB[(own - 7) * 6 + other - 7])
    law = changed(factors=(own, other, own, own))
    longer = [Frame(A, 0, 250), Frame(B, 3 * LATE, 10)]
    for less, numbers, imperfect in ((0.0, {0}, True), (0.01, set(), True), (0.01, {0}, False)):
        powers = {(A, RECEIVER): -90.0, (B, RECEIVER): -90.0 - sir_db + less}
        outcome = run(scenario(powers, changed(law, is_imperfect=imperfect)), longer)
        assert received(outcome) == numbers
        assert outcome.counts(RECEIVER)["fail_sens"] == 1  # of the other factor


def test_nodes_hear_their_own_spreading_factor_and_gateways_all() -> None:
    """A node loses others as too weak for it."""
    powers = {(A, B): -90.0, (A, C): -90.0, (A, RECEIVER): -90.0}
    law = changed(factors=(9, 9, 10, 10), gateways=(RECEIVER,))
    outcome = run(scenario(powers, law), [Frame(A, 0)])
    assert outcome.received == [(B, 0), (RECEIVER, 0)]
    assert outcome.counts(C) == {"fail_sens": 1}


def locked(third: float, demodulators: int = 1, **settings: Any) -> Outcome:
    """Frames of SF9, SF10 and SF9 at a gateway, which meet."""
    law = changed(factors=(9, 10, 9, 9), gateways=(RECEIVER,), demodulators=demodulators, **settings)
    powers = {(A, RECEIVER): -90.0, (B, RECEIVER): -90.0, (C, RECEIVER): third}
    return run(scenario(powers, law), [Frame(A, 0), Frame(B, LATE), Frame(C, 2 * LATE)])


@pytest.mark.parametrize(("demodulators", "numbers"), [(1, {0}), (2, {0, 1}), (3, {0, 1})])
def test_a_gateway_receives_as_many_frames_as_it_has_demodulators(demodulators: int, numbers: set[int]) -> None:
    """The third one is too weak beside the first, and harms nothing."""
    outcome = locked(-97.0, demodulators)
    assert received(outcome) == numbers
    assert outcome.counts(RECEIVER) == {"rx_despite": len(numbers), "fail_interf": 3 - len(numbers)}


def test_a_stronger_frame_takes_a_demodulator_over() -> None:
    """From a frame of its spreading factor, by 6 dB."""
    assert received(locked(-84.0)) == {2}
    assert received(locked(-84.1)) == set()
    assert locked(-84.0).counts(RECEIVER) == {"rx_despite": 1, "fail_interf": 2}


def test_a_radio_may_keep_its_lock() -> None:
    """Then a stronger frame takes over during the preamble alone; later it destroys, and is not received."""
    preamble = 12 * symbol() + symbol() // 4
    assert received(meet(-100.0, -90.0, preamble - 1, relocks=False)) == {1}
    assert received(meet(-100.0, -90.0, preamble, relocks=False)) == set()
    assert received(meet(-100.0, -90.0, preamble)) == {1}


def test_a_demodulator_is_free_in_time_for_the_needed_part_of_a_preamble() -> None:
    """A frame of another factor, whose end a gateway with one demodulator waits for."""
    law = changed(factors=(10, 9, 9, 9), gateways=(RECEIVER,), demodulators=1)
    powers = {(A, RECEIVER): -90.0, (B, RECEIVER): -90.0}
    end = lasting(factor=10)
    for early, numbers in ((0, {0, 1}), (1, {0})):
        after = end - 3 * symbol(LORA) - early
        assert received(run(scenario(powers, law), [Frame(A, 0), Frame(B, after)])) == numbers


def test_a_radio_that_sends_hears_nothing() -> None:
    """Half duplex: nor while it turns around."""
    powers = {(A, B): -90.0, (B, A): -90.0}
    end = lasting()
    for after, count in ((LATE, 0), (end + BACK - 1, 0), (end + BACK + 1, 1)):
        outcome = run(scenario(powers), [Frame(A, 0), Frame(B, after)])
        assert [receiver for receiver, _ in outcome.received].count(A) == count
        assert outcome.counts(A) == ({"rx_no_interf": 1} if count else {"fail_nonrx": 1})
    # B turns to TX as the frame ends
    for after, count in ((end + TURNAROUND, 1), (end + TURNAROUND - 1, 0)):
        outcome = run(scenario(powers), [Frame(A, 0), Frame(B, after)])
        assert [receiver for receiver, _ in outcome.received].count(B) == count


def test_a_node_that_boots_late_hears_nothing_of_a_frame_under_way() -> None:
    """Though it would hear all of the preamble that it needs."""
    described = scenario({(A, B): -90.0})
    late = replace(described.nodes[B], start_offset=SECOND + symbol())
    outcome = run(replace(described, nodes=(described.nodes[A], late)), [Frame(A, 0), Frame(A, SECOND)])
    assert outcome.received == [(B, 1)]
    assert outcome.counts(B) == {"rx_no_interf": 1}


@pytest.mark.parametrize(("power_dbm", "numbers"), [(-88.0, {0}), (-87.0, set())])
def test_bursts_of_others_are_noise(power_dbm: float, numbers: set[int]) -> None:
    """SF9 survives them down to an SNR of -12.5 dB."""
    bursts = InterferenceSettings(rate_per_s=100, length=20 * MILLISECOND, power_dbm=power_dbm, spread_db=0)
    outcome = run(replace(scenario({(A, RECEIVER): -100.0}), interference=bursts), [Frame(A, 0)])
    assert received(outcome) == numbers
    assert outcome.counts(RECEIVER) == ({"rx_despite": 1} if numbers else {"fail_interf": 1})


def test_the_radio_gets_the_noise_and_the_rate_of_its_modem() -> None:
    """Of the largest spreading factor, whose symbols last longest; without a noise figure the file's noise stays."""
    described = scenario({(A, RECEIVER): -100.0}, changed(factors=(7, 12), noise_figure_db=6.0))
    radio = adapt(described).radio
    assert radio.noise_floor_dbm == noise_floor_dbm(125, 6.0) == pytest.approx(-117.03, abs=0.005)
    assert radio.sensitivity_dbm == pytest.approx(-137.03, abs=0.005)
    assert (radio.bits_per_symbol, radio.data_rate_bps) == (12, 366)
    own = replace(described, reception=changed())
    assert adapt(own).radio.noise_floor_dbm == described.radio.noise_floor_dbm
    assert reception_of(own).adapt(own) == adapt(own)


def test_spreading_factors_are_given_in_turn() -> None:
    """And gateways have a mark."""
    law = changed(factors=(7, 9), gateways=(2,))
    assert kinds(scenario({(A, RECEIVER): -100.0}, law)) == [7, 9, 7 + GATEWAY, 9]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"gateways": (4,)}, r"SN\.radio\.gateways: there is no node 4: the last one is 3"),
        ({"factors": (7,) * 5}, r"SN\.radio\.spreadingFactor: there are 5 factors for 4 nodes"),
    ],
)
def test_settings_of_nodes_that_do_not_exist_are_refused(settings: dict[str, Any], message: str) -> None:
    """By key."""
    with pytest.raises(UserError, match=message):
        adapt(scenario({(A, RECEIVER): -100.0}, changed(**settings)))


def test_a_radio_of_another_bandwidth_is_refused() -> None:
    """With the mode that is wanted."""
    described = scenario({(A, RECEIVER): -100.0})
    other = replace(described, reception=changed(bandwidth_khz=250))
    with pytest.raises(UserError, match=r"SN\.radio\.bandwidth: 250 kHz is not the noise bandwidth .* mode, 125 kHz"):
        adapt(other)


def test_a_frame_of_more_than_255_bytes_is_refused() -> None:
    """By the radio's own limit, which LoRa's settings ask for."""
    backend = RadioBackend(scenario({(A, RECEIVER): -90.0}))
    backend.open()
    step = backend.advance([Transmission(A, START, BROADCAST, Data(0), size) for size in (256, 255)], None)
    assert step is not None
    assert [failure.reason for failure in step.failures] == ["frame longer than Radio.maxPhyFrameSize"]
    step = backend.advance((), None)
    assert step is not None
    assert [delivery.receiver for delivery in step.deliveries] == [RECEIVER]


def test_a_frame_costs_the_power_of_tx_for_its_airtime() -> None:
    """Beside the two changes of state, which have a power of their own."""
    energy_mj = run(scenario({(A, RECEIVER): -90.0}), [Frame(A, 0)]).totals.energy_mj
    switching = (TURNAROUND + BACK) / SECOND * (62 - 15)
    assert energy_mj[A] - energy_mj[RECEIVER] == pytest.approx(lasting() / SECOND * (100 - 15) + switching)
