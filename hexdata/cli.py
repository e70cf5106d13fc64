"""The command line, `hexdata COMMAND`: each command is a thin face of a library function.

Bad input ends with one sentence on standard error and exit code 2. Whatever is heavy (Arrow, the engine, torch) is
imported by the command that needs it, so that `hexdata --help` answers at once.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from hexdata.board import COLOURS, Bits, Cell, Position, cell_name, cells, check_size, parse_moves
from hexdata.draw import Label, draw, paint, wants_colour
from hexdata.errors import Unfinished, failed

if TYPE_CHECKING:
    from hexdata.audit import Difference, Plan
    from hexdata.engine import Solution
    from hexdata.params import GamesParams
    from hexdata.rows import Rows

UNFINISHED, BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141
SHOWN_REFUSALS = 10

app = typer.Typer(
    help="Reproducible datasets, networks and proved evaluation suites for the board game Hex.",
    epilog="\b\nExample:\n  hexdata show --size 7 --moves 'd4 e5'\n  hexdata COMMAND --help",
    # Rich would double the time of --help
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

FileArgument = Annotated[
    Path | None, typer.Argument(metavar="FILE.sgf|FILE.parquet", help="A game record, or a table of any artifact.")
]
SizeOption = Annotated[int | None, typer.Option("--size", help="Board size, 2 to 19.", metavar="N")]
MovesOption = Annotated[
    str | None,
    typer.Option("--moves", help='Moves, Black first, such as "d4 e5"; after a FILE they go on from there.'),
]
RowOption = Annotated[int | None, typer.Option("--row", help="Row of the table, from 0.", metavar="N")]
PlyOption = Annotated[
    int | None, typer.Option("--move-number", "--ply", help="Stop a game after this many moves.", metavar="N")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    try:
        code = app(args=list(sys.argv[1:] if argv is None else argv), prog_name="hexdata", standalone_mode=False)
        sys.stdout.flush()
        return code or 0
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "hexdata"
        message = " ".join(str(getattr(error, "format_message", error.__str__)()).split()).rstrip(".")
        return _refuse(f"{message} (see `{command} --help`)")
    except (KeyboardInterrupt, typer.Abort):
        print("hexdata: stopped", file=sys.stderr)
        return INTERRUPTED
    except (BrokenPipeError, SystemExit) as error:
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        # the reader has gone, as in `hexdata head FILE | head`, which typer makes an exit with code 1; Python would
        # complain when it closes standard output
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Unfinished as error:
        print(f"hexdata: {error}", file=sys.stderr)
        return UNFINISHED
    except OSError as error:
        return _refuse(failed(error))
    except ValueError as error:
        return _refuse(" ".join(str(error).split()))


def _refuse(sentence: str) -> int:
    print(f"hexdata: {sentence}", file=sys.stderr)
    return BAD_INPUT


# ---------------------------------------------------------------------------------------------------------- positions


@dataclass
class _Scene:
    """The position that the arguments of `show` and `solve` name, and what is known about it."""

    position: Position
    last: Cell | None = None
    labels: dict[Cell, Label] = field(default_factory=dict)
    title: str = ""
    notes: dict[str, Any] = field(default_factory=dict)
    """What the JSON says beyond the position."""

    def play(self, moves: Sequence[Cell]) -> None:
        for number, cell in enumerate(moves, start=1):
            try:
                self.position = self.position.play(cell)
            except ValueError as error:
                raise ValueError(f"--moves: move {number}: {error}") from None
            self.last, self.labels = cell, {}

    def draw(self) -> str:
        colour = wants_colour(sys.stdout)
        encoding = sys.stdout.encoding or "ascii"
        return draw(self.position, labels=self.labels, last=self.last, colour=colour, encoding=encoding)


def _read_scene(file: Path | None, size: int | None, moves: str | None, row: int | None, ply: int | None) -> _Scene:
    if size is not None:
        check_size(size)
    if file is None:
        for option, value in (("--row", row), ("--move-number", ply)):
            if value is not None:
                raise ValueError(f"{option} is for a FILE: expected an SGF or Parquet file before it")
        if size is None:
            raise ValueError("no position given: expected a FILE, or --size with or without --moves")
        scene = _Scene(Position.empty(size))
    elif _is_parquet(file):
        scene = _table_scene(file, row, ply)
        if size not in (None, scene.position.size):
            raise ValueError(f"{file}: the board is {scene.position.size}x{scene.position.size}, not --size {size}")
    else:
        if row is not None:
            raise ValueError(f"{file}: --row is for Parquet tables: expected --move-number for an SGF file")
        scene = _sgf_scene(file, size, ply)
    if moves is not None:
        scene.play(parse_moves(moves, scene.position.size))
        if scene.title:
            scene.title += f", then {moves.strip()}"
    return scene


def _is_parquet(file: Path) -> bool:
    if file.is_dir():
        raise ValueError(f"{file}: a folder: expected an SGF or Parquet file")
    with file.open("rb") as opened:
        return opened.read(4) == b"PAR1" or file.suffix == ".parquet"


def _sgf_scene(file: Path, size: int | None, ply: int | None) -> _Scene:
    from hexdata.formats.sgf import read_sgf

    game = read_sgf(file, size)
    try:
        scene = _Scene(game.position(ply), game.last_cell(ply))
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
    count = len(game.moves) if ply is None else ply
    players = dict(game.info)
    names = [f"{colour} {players[key]}" for colour, key in (("black", "PB"), ("white", "PW")) if key in players]
    scene.title = ", ".join([f"{file}, move {count} of {len(game.moves)}", *names])
    scene.notes = {"move_number": count, "moves": len(game.moves), "result": game.result}
    return scene


def _table_scene(file: Path, row: int | None, ply: int | None) -> _Scene:
    from hexdata.rows import read_rows, readable, scene_of, winner_of

    number = row or 0
    rows = read_rows(file, number, 1)
    if rows.kind == "openings":
        if row is not None:
            raise ValueError(f"{file}: all rows of an openings table make one board: expected no --row")
        found = scene_of(read_rows(file), number, ply)
        winners = _winners(found.labels, found.position.size)
        return _Scene(found.position, None, found.labels, f"{file}: who wins after each first move of Black", winners)
    found = scene_of(rows, number, ply)
    content = rows.rows[0]
    title = f"{file}: row {number} of {rows.total}, {rows.kind}"
    notes: dict[str, Any] = {"row": readable(rows, number, content)}
    if rows.kind == "games":
        notes["move_number"] = len(content["moves"]) if ply is None else ply
        title += f", move {notes['move_number']} of {len(content['moves'])}, {content['winner']} won"
    elif winner := winner_of(content):
        title += f", proved: {winner} wins"
    return _Scene(found.position, found.last, found.labels, title, notes)


def _winners(labels: Mapping[Cell, str], size: int) -> dict[str, Any]:
    return {"winners": {cell_name(cell, size): winner for cell, winner in sorted(labels.items())}}


def _names(mask: Bits, size: int) -> list[str]:
    return [cell_name(cell, size) for cell in cells(mask)]


def _position_json(position: Position) -> dict[str, Any]:
    return {
        "size": position.size,
        "black": _names(position.black, position.size),
        "white": _names(position.white, position.size),
        "to_move": position.to_move,
    }


def _caption(position: Position, labels: Mapping[Cell, Label]) -> list[str]:
    colour = wants_colour(sys.stdout)
    winner = position.winner()
    turn = f"{winner} has won" if winner else f"{position.to_move} to move"
    lines = [f"{turn}, {position.ply} stones" if position.ply else turn]
    meanings = {
        "win": "+ wins",
        "loss": "- loses",
        "unknown": "? unknown",
        "black": "B black wins",
        "white": "W white wins",
    }
    if used := [meanings[label] for label in meanings if label in labels.values()]:
        lines.append("  ".join(used))
    black, white = ("Black", "White") if colour else ("Black (X)", "White (O)")
    lines.append(paint(f"{black} joins top and bottom, {white} left and right", "dim", colour))
    return lines


@app.command(
    short_help="Draw a position.",
    epilog="\b\nExamples:\n"
    "  hexdata show --size 7 --moves 'd4 e5'\n"
    "  hexdata show game.sgf --move-number 12\n"
    "  hexdata show data/games/hex6/games-00000.parquet --row 3\n"
    "  hexdata show data/suites/hex6/openings.parquet",
)
def show(
    file: FileArgument = None,
    size: SizeOption = None,
    moves: MovesOption = None,
    row: RowOption = None,
    ply: PlyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Draw a position: of moves, of an SGF file, or of a row of a Parquet artifact.

    A row of games shows the final position unless --ply says otherwise; rows of suites mark the winning and losing
    moves; an openings table shows who wins after each first move.
    """
    scene = _read_scene(file, size, moves, row, ply)
    if as_json:
        print(json.dumps({**_position_json(scene.position), "winner": scene.position.winner(), **scene.notes}))
        return
    if scene.title:
        print(paint(scene.title, "bold", wants_colour(sys.stdout)))
    print(scene.draw())
    print("\n".join(_caption(scene.position, scene.labels)))


# -------------------------------------------------------------------------------------------------------------- solve


@app.command(
    short_help="Prove who wins a position, and by which moves.",
    epilog="\b\nExamples:\n"
    "  hexdata solve --size 5 --moves 'c3 b4' --all-moves\n"
    "  hexdata solve game.sgf --move-number 8 --limit-seconds 60\n"
    "  hexdata solve data/suites/hex6/suite.parquet --row 7 --json\n"
    "  hexdata solve --size 5 --openings --threads 2",
)
def solve(
    file: FileArgument = None,
    size: SizeOption = None,
    moves: MovesOption = None,
    row: RowOption = None,
    ply: PlyOption = None,
    to_move: Annotated[
        str | None,
        typer.Option("--to-move", metavar="black|white", help="The side to move, when not the one whose turn it is."),
    ] = None,
    all_moves: Annotated[
        bool, typer.Option("--all-moves", help="Prove every legal move, not just the winner.")
    ] = False,
    openings: Annotated[bool, typer.Option("--openings", help="Prove every first move of the empty board.")] = False,
    limit_nodes: Annotated[
        int | None,
        typer.Option("--limit-nodes", min=1, max=2**63 - 1, metavar="N", help="Give up on a position after N nodes."),
    ] = None,
    limit_seconds: Annotated[
        float | None, typer.Option("--limit-seconds", metavar="S", help="Give up on a position after S seconds.")
    ] = None,
    threads: Annotated[int, typer.Option("--threads", min=1, max=1024, metavar="T", help="Threads to work with.")] = 1,
    as_json: JsonOption = False,
) -> int:
    """Prove who wins a position with best play, and by which moves.

    What is not proved within the limits is unknown, never guessed. Ctrl-C prints what was proved so far.
    """
    if to_move is not None and to_move not in COLOURS:
        raise ValueError(f"--to-move {to_move!r} is no side: expected black or white")
    if limit_seconds is not None and not 0 < limit_seconds < 1e9:
        raise ValueError(f"--limit-seconds {limit_seconds} is out of range: expected a positive number of seconds")
    limits = {"limit_nodes": limit_nodes or 0, "limit_seconds": limit_seconds or 0.0}
    if openings:
        others = {"FILE": file, "--moves": moves, "--row": row, "--move-number": ply, "--to-move": to_move}
        for option, given in {**others, "--all-moves": all_moves or None}.items():
            if given is not None:
                raise ValueError(f"--openings is about the empty board: expected no {option} with it")
        if size is None:
            raise ValueError("--openings needs a board: expected --size")
        return _solve_openings(check_size(size), limits, threads, as_json)
    scene = _read_scene(file, size, moves, row, ply)
    if "winners" in scene.notes:
        raise ValueError(f"{file}: a table of openings: expected --openings --size N to prove them again")
    position = scene.position
    if to_move is not None:
        position = Position(position.size, position.black, position.white, to_move)
    scene.position = position
    return _solve_one(scene, all_moves, limits, threads, as_json)


def _engine_solve() -> Callable[..., Solution]:
    try:
        from hexdata.engine import solve as run
    except ImportError as error:
        raise ValueError(f"the engine is not built ({error}): expected `make setup` to have been run") from None
    return run


@dataclass(frozen=True)
class _Proof:
    """The engine's answer; what it knows before it has begun is the default."""

    unknown_moves: list[Cell]
    winner: str = "unknown"
    winning_moves: list[Cell] = field(default_factory=list)
    losing_moves: list[Cell] = field(default_factory=list)
    line: list[Cell] = field(default_factory=list)
    nodes: int = 0
    expansions: int = 0
    knowledge: int = 0
    cpu_seconds: float = 0.0


def _solve_one(scene: _Scene, all_moves: bool, limits: dict[str, Any], threads: int, as_json: bool) -> int:
    position = scene.position
    run = _engine_solve()
    black, white = list(cells(position.black)), list(cells(position.white))
    nothing = _Proof(list(cells(position.empties())))
    try:
        proof: Solution | _Proof = run(
            position.size, black, white, position.to_move, all_moves=all_moves, threads=threads, **limits
        )
        code = 0
    except KeyboardInterrupt as stop:
        # the engine leaves what it had proved by then with the interrupt
        proof = getattr(stop, "solutions", [nothing])[0]
        code = INTERRUPTED
    if as_json:
        _print_proof_json(position, proof)
    else:
        _print_proof(scene, proof, all_moves, "before it was stopped" if code else "within the limits")
    if code == INTERRUPTED:
        proved = len(proof.winning_moves) + len(proof.losing_moves)
        moves = len(nothing.unknown_moves)
        print(f"hexdata: stopped with {proved} of {moves} moves proved", file=sys.stderr)
    return code


def _print_proof_json(position: Position, proof: Solution | _Proof) -> None:
    found = {
        "winner": proof.winner,
        "winning_moves": [cell_name(cell, position.size) for cell in proof.winning_moves],
        "losing_moves": [cell_name(cell, position.size) for cell in proof.losing_moves],
        "unknown_moves": [cell_name(cell, position.size) for cell in proof.unknown_moves],
        "nodes": proof.nodes,
        "cpu_seconds": round(proof.cpu_seconds, 6),
    }
    print(json.dumps({**_position_json(position), **found}))


def _print_proof(scene: _Scene, proof: Solution | _Proof, all_moves: bool, until: str) -> None:
    # without --all-moves nobody asked for the rest, and it would fill the board
    unknown = proof.unknown_moves if all_moves else []
    kinds: tuple[tuple[str, Label, list[Cell]], ...] = (
        ("winning", "win", proof.winning_moves),
        ("losing", "loss", proof.losing_moves),
        ("unknown", "unknown", unknown),
    )
    scene.labels = {cell: label for _, label, members in kinds for cell in members}
    print("\n".join(_drawn(scene)))
    if scene.position.winner() is not None:
        verdict = f"{proof.winner} has won"
    elif proof.winner == "unknown":
        verdict = f"{scene.position.to_move} to move: unknown, not proved {until}"
    else:
        verdict = f"{scene.position.to_move} to move: {proof.winner} wins"
    print(paint(verdict, "bold", wants_colour(sys.stdout)))
    for title, members in (*((title, members) for title, _, members in kinds), ("line", proof.line)):
        if members:
            names = " ".join(cell_name(cell, scene.position.size) for cell in members)
            print(f"{title:<8} {len(members):>3}  {names}")
    if len(proof.unknown_moves) > len(unknown):
        print(f"{'unknown':<8} {len(proof.unknown_moves):>3}  try --all-moves")
    print(_effort([proof]))


def _drawn(scene: _Scene) -> list[str]:
    """The board under its title, without whose turn it is."""
    title = [paint(scene.title, "bold", wants_colour(sys.stdout))] if scene.title else []
    return [*title, scene.draw(), *_caption(scene.position, scene.labels)[1:]]


def _effort(proofs: Collection[Solution | _Proof]) -> str:
    nodes, expansions = sum(proof.nodes for proof in proofs), sum(proof.expansions for proof in proofs)
    knowledge, seconds = sum(proof.knowledge for proof in proofs), sum(proof.cpu_seconds for proof in proofs)
    return f"{nodes:,} nodes, {expansions:,} expansions, {knowledge:,} connection sets, {seconds:.3f} CPU seconds"


def _solve_openings(size: int, limits: dict[str, Any], threads: int, as_json: bool) -> int:
    """Each opening from an empty table. The threads store whole answers themselves, so Ctrl-C loses none."""
    run = _engine_solve()
    answers: dict[Cell, Solution] = {}
    todo: queue.SimpleQueue[Cell] = queue.SimpleQueue()
    done: queue.SimpleQueue[Exception | None] = queue.SimpleQueue()
    for cell in range(size * size):
        todo.put(cell)

    def work() -> None:
        while True:
            try:
                cell = todo.get_nowait()
            except queue.Empty:
                return
            try:
                answers[cell] = run(size, [cell], [], "white", **limits)
                done.put(None)
            except Exception as error:
                done.put(error)

    interrupted = False
    try:
        for _ in range(min(threads, size * size)):
            threading.Thread(target=work, daemon=True).start()
        for count in range(size * size):
            _progress(f"{count} of {size * size} openings")
            if (error := done.get()) is not None:
                raise error
    except KeyboardInterrupt:
        interrupted = True
    found = dict(answers)
    _progress("")
    _print_openings(size, found, as_json)
    if not interrupted:
        return 0
    proved = sum(answer.winner != "unknown" for answer in found.values())
    print(f"hexdata: stopped with {proved} of {size * size} openings proved", file=sys.stderr)
    sys.stdout.flush()
    # the workers are inside the engine and hear no signals: an ordinary exit would tear it down under them
    os._exit(INTERRUPTED)


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _print_openings(size: int, answers: Mapping[Cell, Solution], as_json: bool) -> None:
    winners: dict[Cell, Label] = {
        cell: cast(Label, answers[cell].winner) if cell in answers else "unknown" for cell in range(size * size)
    }
    nodes = sum(answer.nodes for answer in answers.values())
    seconds = round(sum(answer.cpu_seconds for answer in answers.values()), 6)
    if as_json:
        print(json.dumps({"size": size, **_winners(winners, size), "nodes": nodes, "cpu_seconds": seconds}))
        return
    scene = _Scene(Position.empty(size), None, winners, "Who wins after each first move of Black")
    print("\n".join(_drawn(scene)))
    counts = [f"{list(winners.values()).count(winner)} {winner}" for winner in ("black", "white", "unknown")]
    print(f"{', '.join(counts)}; {_effort(answers.values())}")


# --------------------------------------------------------------------------------------------------------- generation

ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="WHERE",
        help="local (the default), tcp://HOST:PORT, tls://HOST:PORT, slurm, pbs or ssh:HOST,HOST.",
    ),
]
WorkersOption = Annotated[
    str | None,
    typer.Option("--workers", metavar="K|MIN-MAX", help="Worker processes to start (default: one a core)."),
]


@app.command(
    short_help="Play the games of a campaign.",
    epilog="\b\nExamples:\n"
    "  hexdata generate hex6\n"
    "  hexdata generate d8 --dry-run --workers 100\n"
    "  hexdata generate hex9 --cluster tls://scheduler:8786",
)
def generate(
    campaign: Annotated[str, typer.Argument(metavar="CAMPAIGN", help="A campaign of params.yaml.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it will cost, from a sample.")] = False,
    cluster: ClusterOption = None,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
) -> int:
    """Play the games of a campaign into data/games/CAMPAIGN, on this machine or on a Dask cluster.

    Finished shards stay: stopped in any way, the same command goes on and ends in the same bytes. Exit code 1 if it
    could not finish.
    """
    from hexdata.generate import check_games
    from hexdata.generate import generate as play
    from hexdata.locks import only_writer
    from hexdata.params import BadParams, ImportedGames, check_place, read_campaign

    if dry_run and cluster not in (None, "local"):
        raise ValueError("--dry-run measures here: expected --workers alone with it, not --cluster")
    crew = check_place(cluster, workers)
    params = read_campaign(campaign)
    if isinstance(params.games, ImportedGames):
        raise BadParams(f"campaign {campaign!r} is imported: expected one that is played")
    check_games(params.size, params.games)
    if dry_run:
        most = crew[1] if isinstance(crew, tuple) else crew
        return _print_cost(campaign, params.size, params.games, most or os.cpu_count() or 1, as_json)
    folder, log = Path("data") / "games" / campaign, Path("logs") / f"games-{campaign}.log"
    try:
        with only_writer(folder):
            figures = play(campaign, params.size, params.games, folder, cluster, crew, log)
    except KeyboardInterrupt:
        print("hexdata: stopped; finished shards stay: run the same command again to go on", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:  # no fault of the input: what was asked for has been checked
        raise Unfinished(f"{failed(error)}; finished shards stay: run the same command again to go on") from None
    if as_json:
        print(json.dumps({"campaign": campaign, "folder": str(folder), **figures}))
    else:
        print(f"{folder}: {figures['games']:,} games, {figures['played']:,} of them played now")
    return 0


def _print_cost(campaign: str, size: int, games: GamesParams, workers: int, as_json: bool) -> int:
    from hexdata.cost import estimate

    cost = estimate(campaign, size, games, workers)
    if as_json:
        print(json.dumps({"campaign": campaign, **cost.json()}))
        return 0
    budgets = f" at 1/{cost.divided_by} of their budgets" if cost.divided_by > 1 else ""
    print(f"{campaign}: {cost.games:,} games, about {cost.positions:,} positions and {_megabytes(cost.bytes)}")
    print(f"  CPU time          {_duration(cost.cpu_seconds)} on a core like this one")
    print(f"  on {f'{workers:,} workers':<15}{_duration(cost.seconds)}, of which Dask and disk {cost.overhead:.1%}")
    print(f"  measured on {cost.sample_games:,} games{budgets}")
    return 0


def _megabytes(size: int) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.2f} MB"


def _duration(seconds: float) -> str:
    return f"{seconds / 3600:,.1f} hours" if seconds >= 3600 else f"{seconds:,.1f} seconds"


@app.command(
    short_help="Work for a Dask scheduler.",
    epilog="\b\nExamples:\n"
    "  dask scheduler --host 127.0.0.1 --port 8786\n"
    "  hexdata worker tcp://127.0.0.1:8786 --workers 2",
)
def worker(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="tcp://HOST:PORT or tls://HOST:PORT.")],
    processes: Annotated[
        int | None, typer.Option("--workers", min=1, max=99_999, metavar="K", help="Default: one a core.")
    ] = None,
) -> int:
    """Work for a Dask scheduler until it goes away or Ctrl-C: shards of `hexdata generate` on other machines.

    TLS certificates come from Dask's configuration (see README.md).
    """
    from hexdata.cluster import serve

    return serve(address, processes or os.cpu_count() or 1)


# ------------------------------------------------------------------------------------------------------------ players


@app.command(
    short_help="Let other programs play: the Go Text Protocol for Hex.",
    epilog="\b\nExamples:\n"
    "  hexdata gtp --player mohex:seconds=5\n"
    "  printf 'boardsize 5\\ngenmove b\\nshowboard\\n' | hexdata gtp --player uct:playouts=1000",
)
def gtp(
    player: Annotated[
        str, typer.Option("--player", metavar="NAME:…", help="Who plays, with its parameters.")
    ] = "mohex:playouts=10000",
    size: Annotated[int, typer.Option("--size", metavar="N", help="The board before any boardsize.")] = 11,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="S", help="The same seed, the same moves.")] = 0,
    swap: Annotated[bool, typer.Option("--swap", help="It may answer swap-pieces to the first stone.")] = False,
) -> None:
    """Play through standard input and output, as HexGui, Benzene's scripts and `hexdata match` ask for.

    list_commands lists what is understood; param_player shows the player's parameters and sets them; param_game
    allow_swap 1 lets it swap as --swap does; time_settings gives it seconds instead of its own budget. swap-pieces
    turns Black's first stone into a white one on the mirrored cell, as in HexGui 0.10, and Black moves next.

    A player's seconds are of the search's processor time for uct, mohex and mohex-2011 (mohex takes half as long again
    when it is not sure), on the wall for solver. The clock of time_settings is on the wall: a search gets at most half
    of its share, less where the last one had to wait for the processor. random and resistance know no budget.
    """
    from hexdata.gtp import Session, serve

    serve(Session(player, size, seed, swap), sys.stdin.buffer, sys.stdout.buffer)


@app.command(
    short_help="Play players against each other and rate them.",
    epilog="\b\nExamples:\n"
    "  hexdata match mohex:playouts=1000 uct:playouts=1000 --size 9 --openings balanced --games 100\n"
    "  hexdata match mohex:seconds=0.5 resistance 'gtp:mohex --seed 1' --size 11 --out matches/three\n"
    "  hexdata match uct:playouts=100 random --size 5 --workers 1 --json",
)
def match(
    players: Annotated[
        list[str], typer.Argument(metavar="PLAYER…", help="Two or more, as NAME:PARAMETERS or gtp:COMMAND.")
    ],
    size: Annotated[int, typer.Option("--size", metavar="N", help="Board size, 2 to 19.")] = 9,
    openings: Annotated[
        str,
        typer.Option(
            "--openings", metavar="all|balanced|ring2|FILE", help="Or any scheme of params.yaml, such as two-stone."
        ),
    ] = "all",
    games: Annotated[
        int | None,
        typer.Option("--games", metavar="N", help="Of each pair; all openings with both colours if not said."),
    ] = None,
    swap: Annotated[
        bool, typer.Option("--swap", help="White may take over the first stone if it thinks itself behind.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="S", help="The same seed, the same games.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Keep the games; a run that was stopped goes on."),
    ] = None,
    cluster: ClusterOption = None,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play each player against each other, every opening with both colours, and print who won how much, how sure that
    is, and what it cost.

    Elo is of the Bradley-Terry model against the last player named, with profile-likelihood intervals; shares have
    Wilson intervals; all are of 95 %. A game ends by proof when a player claims a win and the solver confirms it.
    Seconds a move are of the processor for our players, on the wall for external ones.
    """
    from hexdata import arena
    from hexdata.params import check_place
    from hexdata.progress import Meter

    wanted = arena.Match(size, tuple(players), openings, games, swap, seed)
    crew = check_place(cluster, workers)
    with Meter("match", 2 * len(arena.pieces(wanted)), "games") as meter:
        result = arena.play_match(wanted, out, cluster, crew, lambda piece, fresh: meter.advance(2, fresh=fresh))
    if as_json:
        print(json.dumps({**result.figures(), "seconds_a_move": result.times(), "failures": result.failures()}))
    else:
        print(result.report())


# --------------------------------------------------------------------------------------------- artifacts and machines


@app.command(
    short_help="Print the first rows of an artifact.",
    epilog="\b\nExamples:\n"
    "  hexdata head data/examples/hex6/examples-00000-of-00001.parquet\n"
    "  hexdata head data/games/hex6/games-00000.parquet -n 1 --json",
)
def head(
    file: Annotated[Path, typer.Argument(metavar="FILE.parquet", help="A Parquet file of any artifact.")],
    count: Annotated[int, typer.Option("--rows", "-n", min=1, max=2**63 - 1, metavar="N", help="How many rows.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line, nothing shortened.")] = False,
) -> None:
    """Print the first rows of any artifact, with cells by name and packed stones drawn."""
    if file.is_dir():
        raise ValueError(f"{file}: a folder: expected one of its Parquet files")
    from hexdata.rows import read_rows, readable

    rows = read_rows(file, 0, count)
    if as_json:
        for number, row in enumerate(rows.rows):
            print(json.dumps(readable(rows, number, row)))
        return
    colour = wants_colour(sys.stdout)
    print(paint(f"{file}: {rows.kind}, {rows.total:,} rows", "bold", colour))
    for number, row in enumerate(rows.rows):
        print()
        _print_row(rows, number, row)


def _print_row(rows: Rows, number: int, row: dict[str, Any]) -> None:
    from hexdata.rows import Rows, scene_of, summary

    colour = wants_colour(sys.stdout)
    width = _terminal_width()
    print(paint(f"row {number}", "bold", colour))
    if rows.kind in ("examples", "dataset", "augmented", "suite"):
        found = scene_of(Rows(rows.path, rows.kind, rows.total, [row]), number)
        scene = _Scene(found.position, found.last, found.labels)
        print("\n".join("  " + line for line in scene.draw().splitlines()))
    for name, value in summary(rows, number, row):
        room = max(width - 18, 20)
        short = value if len(value) <= room else value[: room - 2].rsplit(" ", 1)[0] + " …"
        print(f"  {paint(f'{name:<15}', 'dim', colour)} {short}")


def _terminal_width() -> int:
    import shutil

    return min(shutil.get_terminal_size((100, 24)).columns, 140)


@app.command(
    short_help="Check that artifacts are what they must be.",
    epilog="\b\nExamples:\n"
    "  hexdata validate data/release/hex6\n"
    "  hexdata validate data/games/hex6 data/suites/hex6 data/dataset/hex6 --json",
)
def validate(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="Parquet files, or folders of them.")],
    as_json: JsonOption = False,
) -> int:
    """Check that artifacts are what they must be: schemas, rules of Hex, hashes, no leaks.

    What must hold between files is checked over all paths at once, within a campaign or a release: name games, suites
    and datasets together, or a folder above them. What could not be checked is told.

    Exit code 1 if there is any problem, 2 if a path cannot be read.
    """
    from hexdata.validate import validate as check

    report = check(*paths)
    problems, files, rows = report.problems, report.files, report.rows
    if as_json:
        listed = [
            {"file": str(problem.file), "row": problem.row, "rule": problem.rule, "message": problem.message}
            for problem in problems
        ]
        counts = {"files": files, "rows": rows}
        print(json.dumps({"ok": not problems, **counts, "problems": listed, "not_checked": report.remarks()}))
        return 1 if problems else 0
    colour = wants_colour(sys.stdout)
    for problem in problems:
        where = f"{problem.file}" if problem.row is None else f"{problem.file}: row {problem.row}"
        print(f"{where}: {paint(problem.rule, 'fail', colour)}: {problem.message}")
    for note in report.remarks():
        print(paint(note, "dim", colour))
    verdict = paint(f"{len(problems)} problems", "fail", colour) if problems else paint("no problems", "ok", colour)
    print(f"{verdict} in {files:,} files, {rows:,} rows")
    return 1 if problems else 0


@app.command(
    name="import",
    short_help="Turn other people's games into a campaign.",
    epilog="\b\nExamples:\n"
    "  hexdata import games/*.sgf --as club11\n"
    "  hexdata import littlegolem/ --as golem13 --size 13 --skip\n"
    "  hexdata import neurobenzene-9x9.txt --as gao9",
)
def import_command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES…", help="SGF, neurobenzene lines, HexWorld links or move lists; or folders of them."
        ),
    ],
    campaign: Annotated[str, typer.Option("--as", metavar="CAMPAIGN", help="Name of the campaign.")],
    size: Annotated[
        int | None,
        typer.Option("--size", metavar="N", help="Board size of files that do not tell it; others must agree."),
    ] = None,
    skip: Annotated[
        bool, typer.Option("--skip", help="Leave out games that are unreadable, unfinished or on another board.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Turn other people's games into a campaign: data/games/CAMPAIGN and a section of params.yaml.

    Each game is kept once, as Black-first play without swaps, with the names of its players. A game that is illegal,
    unfinished, or lost by time is refused with its place; then nothing is touched.
    """
    from hexdata.import_games import import_games

    if size is not None:
        check_size(size)

    def read(games: int) -> None:
        if games % 100 == 0:
            _progress(f"{games:,} games read")

    done = import_games(campaign, files, Path("data"), Path("params.yaml"), size, skip, read)
    _progress("")
    if as_json:
        counts = {"games": done.games, "twice": done.twice, "left_out": [str(error) for error in done.refused]}
        told = {"campaign": done.campaign, "size": done.size, **counts, "imported": done.sha256}
        print(json.dumps({**told, "replaced": done.replaced}))
        return
    for error in done.refused[:SHOWN_REFUSALS]:
        print(f"left out: {error}")
    if len(done.refused) > SHOWN_REFUSALS:
        print(f"left out: {len(done.refused) - SHOWN_REFUSALS:,} more, which --json lists")
    found = f"{done.games:,} games of {done.size}x{done.size} are now {done.campaign}"
    print(paint(found, "bold", wants_colour(sys.stdout)) + (f"; {done.twice:,} were there twice" if done.twice else ""))
    print(
        f"  data/games/{done.campaign}/\n  params.yaml: campaigns.{done.campaign}, with the knobs of the nearest size"
    )
    if done.replaced:
        print(
            f"{done.campaign} had other games before: orbits of a dataset that you released keep their sides only if "
            f"`dataset.released` of campaigns.{done.campaign} names a copy of its folder"
        )
    print(f"next: put {done.campaign} into `active` of params.yaml and run `make repro`")


@app.command(
    short_help="Write games as other programs read them.",
    epilog="\b\nExamples:\n"
    "  hexdata export data/games/hex6 --as sgf --out hex6.sgf\n"
    "  hexdata export data/games/hex6/games-00000.parquet --as neurobenzene\n"
    "  hexdata export game.sgf --as hexworld",
)
def export(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILES…", help="Games of a campaign, or files of games in any format; or folders."),
    ],
    form: Annotated[str, typer.Option("--as", metavar="FORMAT", help="sgf, neurobenzene, hexworld or moves.")],
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="A file instead of the terminal.")] = None,
    size: Annotated[
        int | None, typer.Option("--size", metavar="N", help="Board size of files that do not tell it.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write games as other programs read them: SGF, neurobenzene lines, HexWorld links, move lists.

    A format keeps what it can say: only SGF has the players' names, all but neurobenzene have swaps, and HexWorld links
    tell who won only by a chain, a resignation or a forfeit.
    """
    from hexdata.formats import FORMATS, write_games
    from hexdata.import_games import games_from
    from hexdata.records import write_whole

    wanted = next((known for known in FORMATS if known == form), None)
    if wanted is None:
        raise ValueError(f"--as {form!r} is no format: expected one of {', '.join(FORMATS)}")
    if size is not None:
        check_size(size)
    games = list(games_from(files, size, swaps=wanted != "neurobenzene"))
    text = write_games(games, wanted)
    if out is not None:
        write_whole(out, text.encode())
    if as_json:
        written = {"out": str(out)} if out is not None else {"text": text}
        print(json.dumps({"format": wanted, "games": len(games), **written}))
    elif out is not None:
        print(f"{out}: {len(games):,} games")
    else:
        print(text, end="")


@app.command(
    short_help="Prove a sample of labels again, another way.",
    epilog="\b\nExamples:\n"
    "  hexdata audit data/suites/hex6\n"
    "  hexdata audit data/suites/hex6/suite.parquet --sample 200 --seed 2 --json",
)
def audit(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A Parquet file with proved values, or a folder.")],
    sample: Annotated[int, typer.Option("--sample", min=1, metavar="N", help="How many rows to prove again.")] = 50,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Which rows: the same seed, the same rows.")] = 0,
    as_json: JsonOption = False,
) -> int:
    """Prove a random sample of labels again by plain search that shares no code with the solver, and compare.

    Only rows with few empty cells can be searched so; the others are counted as too large. Exit code 1 if any label
    differs, 2 if the path cannot be read. Ctrl-C prints what was compared so far.
    """
    from hexdata import audit as auditor

    drawn = auditor.plan(path, sample, seed)
    total = sum(map(len, drawn.chosen.values()))
    checked: list[tuple[Path, auditor.Checked]] = []
    code = 0
    try:
        for found in auditor.audit(drawn.chosen):
            checked.append(found)
            _progress(f"{len(checked)} of {total} rows")
    except KeyboardInterrupt:
        code = INTERRUPTED
    _progress("")
    differences = [(file, difference) for file, row in checked for difference in row.differences]
    labels = sum(row.labels for _, row in checked)
    unproved = sum(row.unproved for _, row in checked)
    if as_json:
        counts = {"rows": drawn.rows, "too_large": drawn.too_large, "sampled": len(checked)}
        listed = [{"file": str(file), **vars(difference)} for file, difference in differences]
        verdict = {"ok": not differences, "files": drawn.files, **counts, "labels": labels, "unproved": unproved}
        print(json.dumps({**verdict, "differences": listed}))
    else:
        _print_audit(drawn, differences, len(checked), labels, unproved)
    if code == INTERRUPTED:
        print(f"hexdata: stopped with {len(checked)} of {total} rows compared", file=sys.stderr)
        return code
    return 1 if differences else 0


def _print_audit(
    drawn: Plan, differences: list[tuple[Path, Difference]], sampled: int, labels: int, unproved: int
) -> None:
    colour = wants_colour(sys.stdout)
    for file, difference in differences:
        print(f"{file}: row {difference.row}: {paint('audit', 'fail', colour)}: {difference}")
    wrong = f"{len(differences)} differences"
    verdict = paint(wrong, "fail", colour) if differences else paint("no differences", "ok", colour)
    print(f"{verdict} in {labels:,} labels of {sampled:,} rows, of {drawn.rows:,} rows with proved values")
    if unproved:
        print(f"{unproved:,} labels of these rows were not proved again within the node budget")
    if drawn.too_large:
        print(f"{drawn.too_large:,} rows are too large to audit: more than {drawn.most_empty} empty cells")


@app.command(short_help="Check this machine and say what to do.", epilog="\b\nExample:\n  hexdata doctor")
def doctor(as_json: JsonOption = False) -> int:
    """Check this machine: compiler, engine, processor, torch, Dask, Prefect, DVC, disk; and say what to do.

    Exit code 1 if something that hexdata needs is missing.
    """
    from hexdata.doctor import examine

    colour = wants_colour(sys.stdout)
    checks = []
    for check in examine():
        checks.append(check)
        if not as_json:
            print(f"{paint(f'{check.status:<5}', check.status, colour)} {check.name:<10} {check.found}", flush=True)
            if check.advice:
                print(f"{'':<17}-> {check.advice}")
    failed = [check.name for check in checks if check.status == "fail"]
    if as_json:
        print(json.dumps({"ok": not failed, "checks": [vars(check) for check in checks]}))
    elif failed:
        print(f"needs your attention: {', '.join(failed)}")
    else:
        print("ready")
    return 1 if failed else 0


patterns_app = typer.Typer(rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})
app.add_typer(patterns_app, name="patterns", short_help="The engine's pattern weights.")


@patterns_app.callback(epilog="\b\nExample:\n  hexdata patterns promote")
def patterns() -> None:
    """The engine's pattern weights, the priors and playouts of mohex: `dvc repro patterns/dvc.yaml` learns them."""


@patterns_app.command(
    short_help="Make the learned weights the engine's own.",
    epilog="\b\nExample:\n  dvc repro patterns/dvc.yaml && hexdata patterns promote",
)
def promote(as_json: JsonOption = False) -> None:
    """Copy the learned weights into the engine and raise its VERSION, because mohex will play other games.

    Refused, with nothing changed, if the weights are not what params.yaml and this engine give, or are there already.
    """
    from hexdata.params import read_patterns
    from hexdata.patterns import promote as copy

    origin = copy(Path("data/patterns/weights.bin"), Path("metrics/patterns.json"), read_patterns())
    if as_json:
        print(json.dumps(vars(origin)))
        return
    print(f"engine {origin.promoted_as} has the weights that engine {origin.learned_by} learned; what is left to do:")
    print("  python -m tests.engine.test_golden --write    # pin the new games")
    print("  dvc repro patterns/dvc.yaml                   # seconds: the lock learns the new version")


@app.command(short_help="Print the versions.", epilog="\b\nExample:\n  hexdata version")
def version(as_json: JsonOption = False) -> None:
    """Print the version of hexdata, of its engine and of its file schemas."""
    from importlib.metadata import version as installed

    from hexdata.engine import ENGINE_VERSION
    from hexdata.records import SCHEMA_VERSION

    if as_json:
        print(json.dumps({"hexdata": installed("hexdata"), "engine": ENGINE_VERSION, "schema": SCHEMA_VERSION}))
    else:
        print(f"hexdata {installed('hexdata')}, engine {ENGINE_VERSION}, schema {SCHEMA_VERSION}")


if __name__ == "__main__":
    sys.exit(main())
