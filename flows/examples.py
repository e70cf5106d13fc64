"""Stage `examples`: games into unique examples in data/examples/CAMPAIGN."""

from __future__ import annotations

from prefect import flow

from flows.launch import DATA, METRICS, launch
from hexdata import examples as library
from hexdata.cluster import parse_workers
from hexdata.params import read_campaign
from hexdata.records import write_csv, write_json


@flow(name="examples")
def examples(campaign: str, cluster: str | None = None, workers: str | int | None = None) -> None:
    """Fold every searched position of a campaign's games by symmetry into one row per orbit, and prove late ones."""
    params = read_campaign(campaign)
    built = library.build(
        DATA / "games" / campaign,
        DATA / "examples" / campaign,
        params.examples,
        cluster=cluster,
        workers=parse_workers(str(workers)) if workers is not None else None,
    )
    figures = {
        "raw": built.raw,
        "forced": built.forced,
        "unique": built.unique,
        "proved": sum(line.proved for line in built.plies),
        "openings": built.openings,
    }
    write_json(METRICS / campaign / "examples.json", figures)
    write_csv(METRICS / campaign / "plies.csv", library.Ply._fields, built.plies)
    write_csv(METRICS / campaign / "results.csv", library.Result._fields, built.results)


if __name__ == "__main__":
    raise SystemExit(launch(examples, clustered=True))
