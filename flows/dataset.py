"""Stage `dataset`: games into leak-free splits (data/dataset/CAMPAIGN) and augmented rows (data/augmented/CAMPAIGN)."""

from __future__ import annotations

from prefect import flow

from flows.launch import DATA, METRICS, launch
from hexdata import split
from hexdata.cluster import parse_workers
from hexdata.params import read_campaign
from hexdata.records import write_csv, write_json


@flow(name="dataset")
def dataset(campaign: str, cluster: str | None = None, workers: str | int | None = None) -> None:
    """Split a campaign's examples into train, validation and test, and write the symmetric copies of train."""
    params = read_campaign(campaign)
    figures, counts = split.build(
        games=DATA / "games" / campaign,
        examples=DATA / "examples" / campaign,
        suite=DATA / "suites" / campaign,
        out=DATA / "dataset" / campaign,
        augmented=DATA / "augmented" / campaign,
        params=params.dataset,
        cluster=cluster,
        workers=parse_workers(str(workers)) if workers is not None else None,
    )
    write_json(METRICS / campaign / "dataset.json", figures)
    write_csv(METRICS / campaign / "kept.csv", split.Count._fields, counts)
    print(f"dataset {campaign}, split by {params.dataset.split}: {split.told(figures)}")


if __name__ == "__main__":
    raise SystemExit(launch(dataset, clustered=True))
