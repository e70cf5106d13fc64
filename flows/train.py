"""Stage `train`: the three-head network into data/models/CAMPAIGN."""

from __future__ import annotations

from prefect import flow

from flows.launch import DATA, METRICS, launch
from hexdata.kernels import pin_kernels
from hexdata.params import read_campaign
from hexdata.progress import Meter
from hexdata.records import folder_hash, write_csv, write_json


@flow(name="train")
def train(campaign: str) -> None:
    """Train a campaign's network on its dataset and keep the epoch with the least validation loss."""
    pin_kernels()
    from hexdata import train as library

    params = read_campaign(campaign)
    dataset = DATA / "dataset" / campaign
    with Meter(f"train {campaign}", params.train.epochs, "epochs") as meter:
        result = library.train(
            dataset,
            DATA / "models" / campaign,
            params.size,
            params.train,
            data_hash=folder_hash(dataset),
            progress=lambda epoch: meter.advance(1),
        )
    write_json(METRICS / campaign / "train.json", result.summary())
    write_csv(METRICS / campaign / "learning.csv", library.LearningRow._fields, result.learning)


if __name__ == "__main__":
    raise SystemExit(launch(train))
