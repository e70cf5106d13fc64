"""Stage `games`: self-play shards into data/games/CAMPAIGN."""

from __future__ import annotations

from prefect import flow

from flows.launch import DATA, METRICS, launch
from flows.sharded import RUNNER, complete
from hexdata import generate
from hexdata.import_games import check_imported
from hexdata.params import Campaign, ImportedGames, read_campaign
from hexdata.progress import Meter
from hexdata.records import read_folder, read_table, remove_others, write_json


def check(campaign: Campaign) -> None:
    if not isinstance(campaign.games, ImportedGames):
        generate.check_games(campaign.size, campaign.games)


@flow(name="games", task_runner=RUNNER)
def games(campaign: str, cluster: str | None = None, workers: int | None = None) -> None:
    """Play the games of a campaign, shard by shard; shards that are already there stay, imported games too."""
    params = read_campaign(campaign)
    check(params)
    folder = DATA / "games" / campaign
    if isinstance(params.games, ImportedGames):
        # nothing to make: they are there, or the user is told how to get them
        table = check_imported(folder, campaign, params)
        remove_others(folder, [path.name for path in folder.glob("games-*.parquet")])
        write_json(METRICS / campaign / "games.json", generate.games_metrics(table))
        return
    shards = generate.shards(campaign, params.size, params.games)
    with Meter(f"games {campaign}", len(shards) * params.games.per_shard, "games") as meter:

        def done(shard: generate.Shard, fresh: bool) -> None:
            figures = generate.games_metrics(read_table(folder / shard.name, "games"))
            meter.advance(shard.per_shard, fresh=fresh, positions=int(str(figures["positions"])))

        complete(folder, shards, generate.make_shard, done, cluster, workers)
    remove_others(folder, [shard.name for shard in shards])
    write_json(METRICS / campaign / "games.json", generate.games_metrics(read_folder(folder, "games")))


if __name__ == "__main__":
    raise SystemExit(launch(games, check, clustered=True))
