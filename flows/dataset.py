"""Stage `dataset`: games into leak-free splits (data/dataset/CAMPAIGN) and augmented rows (data/augmented/CAMPAIGN)."""

from __future__ import annotations

from prefect import flow

from flows.launch import DATA, METRICS, launch
from hexdata import split
from hexdata.params import read_campaign
from hexdata.records import write_json


@flow(name="dataset")
def dataset(campaign: str) -> None:
    """Split a campaign's examples into train, validation and test, and write the symmetric copies of train."""
    params = read_campaign(campaign)
    figures = split.build(
        games=DATA / "games" / campaign,
        suite=DATA / "suites" / campaign,
        out=DATA / "dataset" / campaign,
        augmented=DATA / "augmented" / campaign,
        size=params.size,
        params=params.dataset,
    )
    write_json(METRICS / campaign / "dataset.json", figures)


if __name__ == "__main__":
    raise SystemExit(launch(dataset))
