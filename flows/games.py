"""Stage `games`: self-play and tournament shards into data/games/CAMPAIGN."""

from __future__ import annotations

from prefect import flow

from flows.launch import DATA, LOGS, METRICS, launch
from flows.sharded import RUNNER, complete
from hexdata import generate
from hexdata.import_games import check_imported
from hexdata.locks import only_writer
from hexdata.params import Campaign, ImportedGames, read_campaign
from hexdata.progress import Meter
from hexdata.records import remove_others, write_json
from hexdata.shards import Made


def check(campaign: Campaign) -> None:
    if not isinstance(campaign.games, ImportedGames):
        generate.check_games(campaign.size, campaign.games)


@flow(name="games", task_runner=RUNNER)
def games(campaign: str, cluster: str | None = None, workers: str | int | None = None) -> None:
    """Play the games of a campaign, shard by shard; shards that are already there stay, imported games too."""
    params = read_campaign(campaign)
    check(params)
    folder = DATA / "games" / campaign
    if isinstance(params.games, ImportedGames):
        # nothing to make: they are there, or the user is told how to get them
        table = check_imported(folder, campaign, params)
        remove_others(folder, [path.name for path in folder.glob("games-*.parquet")])
        write_json(METRICS / campaign / "games.json", generate.games_metrics([table]))
        return
    shards = generate.shards(campaign, params.size, params.games)
    log = LOGS / f"games-{campaign}.log"
    with only_writer(folder):
        with Meter(f"games {campaign}", len(shards) * params.games.per_shard, "games", log) as meter:

            def done(shard: generate.Shard, made: Made | None) -> None:
                generate.advance(meter, shard, made, folder)

            complete(folder, shards, generate.play_shard, done, cluster, workers)
        remove_others(folder, [shard.name for shard in shards])
        write_json(METRICS / campaign / "games.json", generate.folder_metrics(folder, shards))


if __name__ == "__main__":
    raise SystemExit(launch(games, check, clustered=True))
