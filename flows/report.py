"""Stage `report`: one self-contained page about a campaign into data/reports/CAMPAIGN."""

from __future__ import annotations

from prefect import flow

from flows.launch import DATA, METRICS, launch
from hexdata.params import read_campaign
from hexdata.report import build_report


@flow(name="report")
def report(campaign: str) -> None:
    """Draw a campaign's figures as one HTML page."""
    build_report(campaign, read_campaign(campaign).size, METRICS, DATA / "reports" / campaign)


if __name__ == "__main__":
    raise SystemExit(launch(report))
