"""What generation through Dask costs beside the bare engine: `python -m benchmarks.generation [--quick] [--json]
[--save]`. The exit code is 1 if a limit is missed.

The same shards are played in turns by two bare processes, which do nothing but `engine.play_games`, and by the client
with two Dask workers, which also encode, send, check and write them. Then a campaign of very many very short games
shows how much memory the client needs.
"""

import argparse
import json
import multiprocessing
import subprocess
import sys
import time
from dataclasses import replace
from multiprocessing.synchronize import Barrier
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from benchmarks.machine import processor_name, short_name
from hexdata import engine, generate
from hexdata.cluster import connect
from hexdata.openings import parse_scheme
from hexdata.params import GamesParams
from hexdata.records import write_json
from hexdata.shards import Made, complete

RESULTS = Path(__file__).parent / "results"
WORKERS = 2
LEAST_RATIO, MOST_SHARE, MOST_MEGABYTES = 0.95, 0.05, 600
HEX6 = {"per_shard": 100, "player": "uct:playouts=800-1200", "openings": "one-stone", "dither_moves": 6}
MANY = """\
active: [many]
campaigns:
  many:
    size: 5
    games: {{shards: {shards}, per_shard: 500, player: "uct:playouts=50", openings: one-stone, dither_moves: 6, temperature: 1.0, seed: 5}}
    examples: {{}}
    dataset: {{validation: 0.1, test: 0.1, augment: all, rows_per_file: 50000}}
    suite: {{positions: 60, min_stones: 2, max_stones: 12, limit_nodes: 1000, opening_limit_nodes: 1000, shards: 2, seed: 5}}
    train: {{blocks: 2, filters: 16, epochs: 2, batch: 128, learning_rate: 0.002, value_weight: 0.5, weight_decay: 0.0, threads: 2, seed: 5}}
"""  # noqa: E501


def play_bare(shards: list[generate.Shard], barrier: Barrier) -> None:
    """What no way of running the engine can do without."""
    calls = []
    for shard in shards:
        starts = generate.starts_of(shard, parse_scheme(shard.openings))
        seeds = generate.game_seeds(shard.seed, shard.games[0], shard.per_shard)
        calls.append((str(shard.player), [list(start) for start in starts], seeds))
    barrier.wait()
    for player, starts, seeds in calls:
        engine.play_games(6, player, player, starts, seeds, dither_moves=6, temperature=1.0)
    barrier.wait()


def bare(shards: list[generate.Shard]) -> tuple[float, float]:
    """Seconds by the clock and of CPU time of two bare processes, from when both are ready to when both are done."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(WORKERS + 1)
    processes = [context.Process(target=play_bare, args=(shards[i::WORKERS], barrier)) for i in range(WORKERS)]
    for process in processes:
        process.start()
    watched = [psutil.Process(process.pid) for process in processes]
    barrier.wait()
    before, started = cpu_seconds(watched), time.monotonic()
    while any(process.is_alive() for process in processes) and barrier.n_waiting < WORKERS:
        time.sleep(0.005)
    taken = time.monotonic() - started, cpu_seconds(watched) - before
    barrier.wait()
    for process in processes:
        process.join()
    return taken


def through_dask(shards: list[generate.Shard]) -> tuple[float, float, float]:
    """Seconds by the clock, CPU seconds of the workers, and of this process: client, scheduler and nannies."""
    with TemporaryDirectory() as folder, connect("local", WORKERS) as client:
        client.wait_for_workers(WORKERS)
        # as the bare processes, all are measured once they have loaded what is loaded once
        warm = [replace(shards[0], number=number, per_shard=1) for number in range(4 * WORKERS)]
        complete(client, generate.play_shard, warm, Path(folder) / "warm", told_nobody)
        me = psutil.Process()
        workers = [p for p in me.children(recursive=True) if "spawn_main" in " ".join(p.cmdline())]
        before, mine, started = cpu_seconds(workers), cpu_seconds([me]), time.monotonic()
        failures = complete(client, generate.play_shard, shards, Path(folder), told_nobody)
        taken = time.monotonic() - started
        assert not failures, failures
        return taken, cpu_seconds(workers) - before, cpu_seconds([me]) - mine


def told_nobody(shard: generate.Shard, made: Made) -> None:
    pass


def cpu_seconds(processes: list[psutil.Process]) -> float:
    return sum(times.user + times.system for times in (process.cpu_times() for process in processes))


def throughput(rounds: int, shards_a_round: int) -> dict[str, float]:
    shards = generate.shards("bench", 6, GamesParams(shards=rounds * shards_a_round, temperature=1.0, seed=6, **HEX6))
    bare_seconds = bare_cpu = dask_seconds = worker_cpu = client_cpu = 0.0
    for number in range(rounds):
        part = shards[number * shards_a_round : (number + 1) * shards_a_round]
        # alternating who goes first, so that a machine that slows down hurts both
        for side in ("bare", "dask") if number % 2 == 0 else ("dask", "bare"):
            if side == "bare":
                seconds, cpu = bare(part)
                bare_seconds, bare_cpu = bare_seconds + seconds, bare_cpu + cpu
            else:
                seconds, cpu, mine = through_dask(part)
                dask_seconds, worker_cpu, client_cpu = dask_seconds + seconds, worker_cpu + cpu, client_cpu + mine
    games = len(shards) * shards[0].per_shard
    total = worker_cpu + client_cpu
    return {
        "games": games,
        "bare_games_per_second": games / bare_seconds,
        "dask_games_per_second": games / dask_seconds,
        "ratio": bare_seconds / dask_seconds,
        "client_cpu_share": client_cpu / total,
        "cpu_share_beyond_the_engine": max(total - bare_cpu, 0.0) / total,
    }


def memory(games: int) -> dict[str, float]:
    """The client's peak resident size while it takes in very many short games."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "params.yaml").write_text(MANY.format(shards=games // 500))
        command = [sys.executable, "-m", "hexdata.cli", "generate", "many", "--workers", str(WORKERS)]
        client = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        peak = 0
        while client.poll() is None:
            peak = max(peak, high_water(client.pid))
            time.sleep(0.1)
        assert client.returncode == 0
        written = sum(path.stat().st_size for path in (Path(folder) / "data").rglob("*.parquet"))
    return {"games": games, "client_peak_mb": peak / 1024, "written_mb": written / 2**20}


def high_water(pid: int) -> int:
    """Kilobytes."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0  # it has just ended
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")), 0)


def missed(figures: dict[str, dict[str, float]]) -> list[str]:
    """The limits that do not hold."""
    speed, size = figures["throughput"], figures["memory"]
    holds = {
        f"ratio at least {LEAST_RATIO}": speed["ratio"] >= LEAST_RATIO,
        f"client and Dask less than {MOST_SHARE:.0%}": speed["cpu_share_beyond_the_engine"] < MOST_SHARE,
        f"client's peak less than {MOST_MEGABYTES} MB": size["client_peak_mb"] < MOST_MEGABYTES,
    }
    return [limit for limit, kept in holds.items() if not kept]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the games")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--save", action="store_true", help="keep the JSON in benchmarks/results/")
    arguments = parser.parse_args(argv)
    figures = {
        "throughput": throughput(2 if arguments.quick else 4, 6 if arguments.quick else 20),
        "memory": memory(10_000 if arguments.quick else 100_000),
    }
    failed = missed(figures)
    if arguments.save:
        processor = processor_name()
        result = {"processor": processor, "engine_version": engine.ENGINE_VERSION, "workers": WORKERS, **figures}
        write_json(RESULTS / f"generation-{short_name(processor)}.json", result)
    if arguments.json:
        print(json.dumps(figures))
        return 1 if failed else 0
    speed, size = figures["throughput"], figures["memory"]
    print(f"{speed['games']:,} games of 6x6 at 800-1200 playouts, {WORKERS} processes")
    print(f"  bare engine         {speed['bare_games_per_second']:8.1f} games/s")
    print(f"  through Dask        {speed['dask_games_per_second']:8.1f} games/s, encoded, checked and written")
    print(f"  ratio               {speed['ratio']:8.3f} (at least {LEAST_RATIO})")
    print(f"  client and scheduler{speed['client_cpu_share']:8.1%} of the CPU time")
    share = speed["cpu_share_beyond_the_engine"]
    print(f"  and Dask's workers  {share:8.1%} beyond the bare engine (less than {MOST_SHARE:.0%})")
    print(f"{size['games']:,} games of 5x5 at 50 playouts, {size['written_mb']:.0f} MB of shards")
    print(f"  client's peak       {size['client_peak_mb']:8.0f} MB (less than {MOST_MEGABYTES})")
    for limit in failed:
        print(f"missed: {limit}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
