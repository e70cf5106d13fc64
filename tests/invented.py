"""An invented campaign: plausible metrics and small but lawful artifacts, for tests of what reads them."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

from hexdata.board import cell_name

PROVED_6X6 = (  # the first moves after which Black wins on 6x6, by row
    ".....x",
    ".xxxxx",
    ".xxxxx",
    "xxxxx.",
    "xxxxx.",
    "x.....",
)


def wilson(hits: int, of: int) -> dict[str, float | int]:
    z = 1.959964
    p = hits / of
    middle, spread = p + z * z / (2 * of), z * math.sqrt(p * (1 - p) / of + z * z / (4 * of * of))
    scale = 1 + z * z / of
    return {"hits": hits, "of": of, "rate": p, "low": (middle - spread) / scale, "high": (middle + spread) / scale}


def write_metrics(folder: Path, size: int = 6, seed: int = 1) -> None:
    """All files of metrics/C."""
    rng = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)

    def put(name: str, value: object) -> None:
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
        i = wilson(wins, each)
        openings.append((cell_name(cell, size), row, column, each, wins, i["rate"], i["low"], i["high"], proved))
    games = each * size * size
    table("openings.csv", "name,row,column,games,black_wins,rate,low,high,proved", openings)

    plies, unique_total, raw_total = [], 0, 0
    for ply in range(size * size - 4):
        alive = 1 / (1 + math.exp((ply - 0.55 * size * size) / (0.07 * size * size)))
        raw = int(games * alive)
        unique = int(min(raw * (0.03 + 0.95 / (1 + math.exp(-(ply - 4) / 1.1))), (size * size) ** min(ply, 8)))
        plies.append((ply, raw, unique))
        raw_total, unique_total = raw_total + raw, unique_total + unique
    table("plies.csv", "ply,raw,unique", plies)

    put(
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
    put("examples.json", {"raw": raw_total, "forced": games, "unique": unique_total})
    rows = {"train": int(unique_total * 0.78), "validation": int(unique_total * 0.1), "test": int(unique_total * 0.1)}
    splits = {"train": 0.8, "validation": 0.1, "test": 0.1}
    put(
        "dataset.json",
        {
            **{split: {"rows": rows[split], "games": int(games * part)} for split, part in splits.items()},
            "augmented_rows": 2 * rows["train"],
            "dropped": {"train": 812, "validation": 240},
            "suite_dropped": 391,
            "leaks": {"orbits": 0, "games": 0, "suite": 0},
        },
    )
    counts = {kind: sum(row[-1] == kind for row in openings) for kind in ("black", "white", "unknown")}
    put(
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
    put(
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
    topk = [(k, wilson(int(tested * (1 - 0.615 * math.exp(-(k - 1) / 2.6))), tested)) for k in range(1, 11)]
    table("topk.csv", "k,rate,low,high", [(k, i["rate"], i["low"], i["high"]) for k, i in topk])
    at = dict(topk)
    put(
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
                    "sign_right": wilson(338, 392),
                    "mse": {"mean": 0.4312, "low": 0.3851, "high": 0.4773, "of": 392},
                },
                "test": {
                    "positions": tested,
                    "sign_right": wilson(int(tested * 0.812), tested),
                    "mse": {"mean": 0.5233, "low": 0.5061, "high": 0.5405, "of": tested},
                },
            },
            "suite_policy": {"positions": 231, "top1_wins": wilson(193, 231)},
            "games": {"black_wins": wilson(black_total, games)},
        },
    )
