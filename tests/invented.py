"""An invented campaign: plausible metrics and small but lawful artifacts, for tests of what reads them."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pyarrow as pa

from hexdata.board import Position, cell_name, cells, pack, unpack
from hexdata.evaluate import rate
from hexdata.records import examples_schema, games_schema, openings_schema, suite_schema, table_bytes

PROVED_6X6 = (  # the first moves after which Black wins on 6x6, by row
    ".....x",
    ".xxxxx",
    ".xxxxx",
    "xxxxx.",
    "xxxxx.",
    "x.....",
)


def write_metrics(folder: Path, size: int = 6, seed: int = 1) -> None:
    """All files of metrics/C."""
    rng = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)

    def note(name: str, value: object) -> None:
        (folder / name).write_text(json.dumps(value, indent=2, sort_keys=True) + "\n")

    def table(name: str, header: str, rows: list[tuple[object, ...]]) -> None:
        lines = [header, *(",".join(str(value) for value in row) for row in rows)]
        (folder / name).write_text("\n".join(lines) + "\n")

    openings, black_total, each = [], 0, 3000 // (size * size)
    for cell in range(size * size):
        row, column = divmod(cell, size)
        away = math.hypot(row - (size - 1) / 2 + 0.35 * (column - (size - 1) / 2), column - (size - 1) / 2) / size
        if size == 6:
            proved = "black" if PROVED_6X6[row][column] == "x" else "white"
        else:
            proved = "black" if away < 0.45 else "white"
        chance = min(0.97, max(0.04, 0.93 - 1.05 * away + (0.06 if proved == "black" else -0.14)))
        wins = sum(rng.random() < chance for _ in range(each))
        black_total += wins
        if cell in (1, size * size - 2):
            proved = "unknown"
        i = rate(wins, each)
        openings.append((cell_name(cell, size), row, column, each, wins, i["rate"], i["low"], i["high"], proved))
    games = each * size * size
    table("openings.csv", "name,row,column,games,black_wins,rate,low,high,proved", openings)

    plies, unique_total, raw_total = [], 0, 0
    for ply in range(size * size - 4):
        alive = 1 / (1 + math.exp((ply - 0.55 * size * size) / (0.07 * size * size)))
        raw = int(games * alive)
        unique = int(min(raw * (0.03 + 0.95 / (1 + math.exp(-(ply - 4) / 1.1))), (size * size) ** min(ply, 8)))
        again, both = (raw - unique) // 3, (raw - unique) // 5
        plies.append((ply, raw, unique, again, both, unique if ply > 9 else 0, unique, round(4 / (1 + ply / 9), 4)))
        raw_total, unique_total = raw_total + raw, unique_total + unique
    table("plies.csv", "ply,raw,unique,repeated,disagreeing,proved,policies,entropy", plies)
    results = [(ply, name, raw // 2, raw // 40) for ply, raw, *_ in plies if ply > 9 for name in ("mohex", "uct")]
    table("results.csv", "ply,player,games,wrong", results)

    note(
        "games.json",
        {
            "games": games,
            "black_wins": black_total,
            "white_wins": games - black_total,
            "plies": raw_total,
            "positions": raw_total,
            "ended_by": {"chain": games},
        },
    )
    proved = sum(unique for ply, _, unique, *_ in plies if ply > 9)
    openings_met = {"1": {"met": 18, "of": 18}, "2": {"met": 593, "of": 630}}
    note(
        "examples.json",
        {"raw": raw_total, "forced": games, "unique": unique_total, "proved": proved, "openings": openings_met},
    )
    rows = {"train": int(unique_total * 0.78), "validation": int(unique_total * 0.1), "test": int(unique_total * 0.1)}
    splits = {"train": 0.8, "validation": 0.1, "test": 0.1}
    note(
        "dataset.json",
        {
            **{split: {"rows": rows[split], "games": int(games * part)} for split, part in splits.items()},
            "augmented_rows": 2 * rows["train"],
            "dropped": {"train": 812, "validation": 240, "test": 31},
            "suite_dropped": 391,
            "leaks": {"orbits": 0, "games": 0, "suite": 0},
        },
    )
    counts = {kind: sum(row[-1] == kind for row in openings) for kind in ("black", "white", "unknown")}
    note(
        "suite.json",
        {
            "positions": 400,
            "proved": 392,
            "unknown": 8,
            "wins": 231,
            "losses": 161,
            "nodes": 1843201,
            "openings": {**counts, "nodes": 8410233},
        },
    )
    epochs = 8
    note(
        "train.json",
        {
            "parameters": 79463,
            "epochs": epochs,
            "best_epoch": 7,
            "train_rows": 2 * rows["train"],
            "validation_rows": rows["validation"],
        },
    )
    learning = []
    for epoch in range(1, epochs + 1):
        for split, gap in (("train", 0.0), ("validation", 0.012 * epoch)):
            fall = math.exp(-epoch / 2.2)
            policy = 1.82 + 0.9 * fall + gap + rng.uniform(-0.01, 0.01)
            value, q = 0.42 + 0.4 * fall + 1.4 * gap, 0.47 + 0.36 * fall + 1.2 * gap
            top1 = 0.44 - 0.26 * fall - 0.6 * gap
            learning.append((epoch, split, policy + 0.5 * (value + q), policy, value, q, top1))
    table("learning.csv", "epoch,split,loss,policy,value,q,top1", learning)
    tested = rows["test"]
    topk = [(k, rate(int(tested * (1 - 0.615 * math.exp(-(k - 1) / 2.6))), tested)) for k in range(1, 11)]
    table("topk.csv", "k,rate,low,high", [(k, i["rate"], i["low"], i["high"]) for k, i in topk])
    at = dict(topk)
    note(
        "evaluate.json",
        {
            "policy": {
                "positions": tested,
                "uniform_top1": 0.0437,
                "top1": at[1],
                "top3": at[3],
                "top5": at[5],
                "times_uniform": float(at[1]["rate"]) / 0.0437,
            },
            "value": {
                "suite": {
                    "positions": 392,
                    "sign_right": rate(338, 392),
                    "mse": {"mean": 0.4312, "low": 0.3851, "high": 0.4773, "of": 392},
                },
                "test": {
                    "positions": tested,
                    "sign_right": rate(int(tested * 0.812), tested),
                    "mse": {"mean": 0.5233, "low": 0.5061, "high": 0.5405, "of": tested},
                },
            },
            "suite_policy": {"positions": 231, "top1_wins": rate(193, 231)},
            "games": {"black_wins": rate(black_total, games)},
        },
    )


def write_data(folder: Path, campaign: str, size: int = 5, seed: int = 1) -> None:
    """data/games, data/dataset and data/suites of a campaign: two shards of random games and what follows from them."""
    rng = random.Random(seed)
    shards = [[_game(rng, campaign, size, shard) for _ in range(6)] for shard in range(2)]
    for shard, games in enumerate(shards):
        table = pa.Table.from_pylist(games, schema=games_schema())
        put(folder / "games" / campaign / f"games-{shard:05}.parquet", table_bytes(table, "games", {"shard": shard}))
    games = [game for shard in shards for game in shard]
    for split, dealt in (("train", games[:8]), ("validation", games[8:10]), ("test", games[10:])):
        rows = sorted((row for game in dealt for row in _examples(game, size)), key=lambda row: row["key"])
        half = (len(rows) + 1) // 2
        parts = [rows[:half], rows[half:]] if split == "train" else [rows]
        for index, part in enumerate(parts):
            table = pa.Table.from_pylist(part, schema=examples_schema(size))
            name = f"{split}-{index:05}-of-{len(parts):05}.parquet"
            put(folder / "dataset" / campaign / name, table_bytes(table, "dataset", {"split": split}))
    suite = [_proof(rng, row) for game in games for row in _examples(game, size)[-1:]]
    table = pa.Table.from_pylist(suite, schema=suite_schema(size))
    put(folder / "suites" / campaign / "suite.parquet", table_bytes(table, "suite", {}))
    winners = [{"size": size, "cell": cell, "winner": "black", "nodes": 9 + cell} for cell in range(size * size)]
    table = pa.Table.from_pylist(winners, schema=openings_schema())
    put(folder / "suites" / campaign / "openings.parquet", table_bytes(table, "openings", {}))


def put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _game(rng: random.Random, campaign: str, size: int, shard: int) -> dict[str, Any]:
    position, moves = Position.empty(size), []
    while (winner := position.winner()) is None:
        moves.append(rng.choice(list(cells(position.empties()))))
        position = position.play(moves[-1])
    searched = [index > 0 for index in range(len(moves))]
    return {
        "game_id": rng.randbytes(16),
        "campaign": campaign,
        "shard": shard,
        "size": size,
        "opening_length": 1,
        "moves": moves,
        "winner": winner,
        "ended_by": "chain",
        "swapped": False,
        "black": "uct:playouts=60-100",
        "white": "uct:playouts=60-100",
        "seed": rng.getrandbits(63),
        "budget": [80 if is_searched else 0 for is_searched in searched],
        "root_value": [rng.uniform(-1, 1) if is_searched else 0.0 for is_searched in searched],
        "visits": [
            {"cells": [move] if is_searched else [], "counts": [80] if is_searched else []}
            for move, is_searched in zip(moves, searched, strict=True)
        ],
        "sampled": [False] * len(moves),
        "engine_version": 1,
        "net_hash": None,
    }


def _examples(game: dict[str, Any], size: int) -> list[dict[str, Any]]:
    rows = []
    for ply, move in enumerate(game["moves"]):
        position = Position.after(size, game["moves"][:ply])
        rows.append(
            {
                "key": (pack(position.black, size) + pack(position.white, size)).ljust(16, b"\0"),
                "size": size,
                "black": pack(position.black, size),
                "white": pack(position.white, size),
                "to_move": position.to_move,
                "ply": ply,
                "plies_left_sum": len(game["moves"]) - ply,
                "policy_cells": [move],
                "policy_visits": [80],
                "played_cells": [move],
                "played_counts": [1],
                "z_sum": 1 if game["winner"] == position.to_move else -1,
                "z_count": 1,
                "games": 1,
                "sampled_count": 0,
                "proved": None,
                "weight": 1.0,
            }
        )
    return rows[1:]


def _proof(rng: random.Random, row: dict[str, Any]) -> dict[str, Any]:
    """The last position of a game: its last move wins."""
    shown = {name: row[name] for name in ("key", "size", "black", "white", "to_move", "ply")}
    taken = unpack(row["black"]) | unpack(row["white"])
    others = [cell for cell in range(row["size"] ** 2) if not taken >> cell & 1 and cell not in row["played_cells"]]
    return {
        **shown,
        "value": 1,
        "winning_moves": row["played_cells"],
        "losing_moves": [],
        "unknown_moves": others,
        "nodes": rng.randrange(1, 500),
        "difficulty": "easy",
        "source": "random",
    }
