"""Stage `patterns`: the games that pattern weights are learned from, and the weights, into data/patterns."""

from __future__ import annotations

from prefect import flow

from flows.launch import DATA, LOGS, METRICS, launch_alone
from flows.sharded import RUNNER, complete
from hexdata import generate, patterns
from hexdata.params import read_patterns
from hexdata.progress import Meter
from hexdata.records import read_folder, remove_others, write_json, write_whole
from hexdata.shards import Made


def check() -> None:
    patterns.shards(read_patterns())


@flow(name="patterns", task_runner=RUNNER)
def learn(cluster: str | None = None, workers: str | int | None = None) -> None:
    """Play the campaign of the pattern weights, shard by shard, and learn them from its games."""
    params = read_patterns()
    shards = patterns.shards(params)
    folder = DATA / "patterns" / "games"
    log = LOGS / "games-patterns.log"
    with Meter("games of patterns", len(shards) * params.games.per_shard, "games", log) as meter:

        def done(shard: generate.Shard, made: Made | None) -> None:
            generate.advance(meter, shard, made, folder)

        complete(folder, shards, generate.play_shard, done, cluster, workers)
    remove_others(folder, [shard.name for shard in shards])
    weights, metrics = patterns.learn(read_folder(folder, "games"), params)
    write_whole(DATA / "patterns" / "weights.bin", weights)
    write_json(METRICS / "patterns.json", metrics)


if __name__ == "__main__":
    raise SystemExit(launch_alone(learn, check))
