"""Stage `suite`: solver-labelled positions and openings into data/suites/CAMPAIGN."""

from __future__ import annotations

import shutil

from prefect import flow

from flows.launch import DATA, METRICS, launch
from flows.sharded import RUNNER, complete
from hexdata import suites
from hexdata.locks import only_writer
from hexdata.params import read_campaign
from hexdata.progress import Meter
from hexdata.records import remove_others, write_json
from hexdata.shards import Made


@flow(name="suite", task_runner=RUNNER)
def suite(campaign: str, cluster: str | None = None, workers: str | int | None = None) -> None:
    """Prove every move of random positions and the winner of every opening; finished pieces survive a kill."""
    params = read_campaign(campaign)
    pieces = suites.pieces(params.size, params.suite)
    work = DATA / ".work" / "suites" / campaign
    with only_writer(work):
        with Meter(f"suite {campaign}", sum(len(piece.items) for piece in pieces), "positions") as meter:

            def done(piece: suites.Piece, made: Made | None) -> None:
                meter.advance(len(piece.items), fresh=made is not None)

            complete(work, pieces, suites.make_piece, done, cluster, workers)
        remove_others(work, [piece.name for piece in pieces])
        figures = suites.assemble(work, pieces, DATA / "suites" / campaign)
        write_json(METRICS / campaign / "suite.json", figures)
        shutil.rmtree(work)


if __name__ == "__main__":
    raise SystemExit(launch(suite, clustered=True))
