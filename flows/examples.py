"""Stage `examples`: games into unique examples in data/examples/CAMPAIGN."""

from __future__ import annotations

from prefect import flow

from flows.launch import DATA, METRICS, launch
from hexdata import examples as library
from hexdata.records import write_csv, write_json


@flow(name="examples")
def examples(campaign: str) -> None:
    """Fold every searched position of a campaign's games by symmetry into one row per orbit."""
    built = library.build(DATA / "games" / campaign, DATA / "examples" / campaign)
    figures = {"raw": built.raw, "forced": built.forced, "unique": built.unique}
    write_json(METRICS / campaign / "examples.json", figures)
    write_csv(METRICS / campaign / "plies.csv", ("ply", "raw", "unique"), built.plies)


if __name__ == "__main__":
    raise SystemExit(launch(examples))
