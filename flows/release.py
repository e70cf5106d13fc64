"""Stage `release`: what a stranger needs to load, check and cite a campaign, into data/release/CAMPAIGN."""

from __future__ import annotations

from prefect import flow

from flows.launch import DATA, METRICS, launch
from hexdata.params import read_campaign
from hexdata.release import build_release


@flow(name="release")
def release(campaign: str) -> None:
    """Lay out a campaign's dataset, games and suite with their card, checksums and provenance."""
    build_release(campaign, read_campaign(campaign).size, DATA, METRICS, DATA / "release" / campaign)


if __name__ == "__main__":
    raise SystemExit(launch(release))
