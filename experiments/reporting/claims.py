"""The claims of studies: what each sweep's are, their verdicts, and how they are printed."""

from __future__ import annotations

from collections.abc import Sequence

from roambus.experiments.evidence.claim import Claim, check
from roambus.experiments.measurements.measurements import Measurements


def check_claims(measured: Measurements) -> list[Claim]:
    """The verdict on each claim about this sweep; empty for a sweep of no study.

    The claims of a study are numbered through, also those about sweeps that were not run.
    """
    if measured.study is None:
        return []
    study, own = measured.study
    before = study.sweeps[: study.sweeps.index(own)]
    return check(own.claims, measured, 1 + sum(len(sweep.claims) for sweep in before))


def format_claims(claims: Sequence[Claim]) -> str:
    """The claims as lines of text: verdict, claim, reading, numbers."""
    return "\n".join(
        "\n".join([f"{claim.number:2}. {claim.verdict.value}: {claim.text}", *_indented(claim)]) for claim in claims
    )


def _indented(claim: Claim) -> list[str]:
    return [f"      {line}" for line in (claim.reading, *claim.evidence)]
