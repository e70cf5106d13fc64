"""Stage `train`: the three-head network into data/models/CAMPAIGN."""

from __future__ import annotations

from prefect import flow

from flows.launch import DATA, METRICS, launch
from hexdata.kernels import pin_kernels
from hexdata.params import read_campaign
from hexdata.progress import Meter
from hexdata.records import folder_hash, params_hash, write_csv, write_json


@flow(name="train")
def train(campaign: str) -> None:
    """Train a campaign's network on its dataset or augmented rows and keep the epoch with the least validation loss."""
    pin_kernels()
    from hexdata import train as library

    params = read_campaign(campaign)
    dataset, augmented = DATA / "dataset" / campaign, DATA / "augmented" / campaign
    data_hash = folder_hash(dataset)
    if params.train.source == "augmented":
        data_hash = params_hash({"augmented": folder_hash(augmented), "dataset": data_hash})
    with Meter(f"train {campaign}", params.train.epochs, "epochs") as meter:
        result = library.train(
            dataset,
            augmented,
            DATA / "models" / campaign,
            params.size,
            params.train,
            data_hash=data_hash,
            progress=lambda epoch: meter.advance(1),
        )
    write_json(METRICS / campaign / "train.json", result.summary())
    write_csv(METRICS / campaign / "learning.csv", library.LearningRow._fields, result.learning)


if __name__ == "__main__":
    raise SystemExit(launch(train))
