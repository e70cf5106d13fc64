"""Stage `evaluate`: how good the network is, each figure with its interval, into metrics/CAMPAIGN."""

from __future__ import annotations

from prefect import flow

from flows.launch import DATA, METRICS, launch
from hexdata import evaluate as library
from hexdata.kernels import pin_kernels
from hexdata.records import write_csv, write_json


@flow(name="evaluate")
def evaluate(campaign: str) -> None:
    """Measure a campaign's network on the test split and on the proved suite."""
    pin_kernels()
    found = library.evaluate(
        model=DATA / "models" / campaign,
        dataset=DATA / "dataset" / campaign,
        suite=DATA / "suites" / campaign,
        games=DATA / "games" / campaign,
    )
    write_json(METRICS / campaign / "evaluate.json", found.summary)
    write_csv(METRICS / campaign / "topk.csv", library.TopKRow._fields, found.topk)
    write_csv(METRICS / campaign / "openings.csv", library.OpeningRow._fields, found.openings)


if __name__ == "__main__":
    raise SystemExit(launch(evaluate))
