"""Progress of long work: a live bar on a terminal, one line now and then elsewhere, and in a log if there is one."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType, TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

LINE_SECONDS = 10.0


class Meter:
    """Counts units of work and notes beside them. Safe to advance from several threads."""

    def __init__(self, title: str, total: int, unit: str, log: Path | None = None) -> None:
        self.title, self.total, self.unit, self.log = title, total, unit, log
        self.done = 0
        self._found = 0
        self.notes: dict[str, int] = {}
        self._rates: dict[str, int] = {}
        self._lock = threading.Lock()
        self._started = self._last_line = time.monotonic()
        console = Console(file=sys.stderr)
        self._bar: Progress | None = None
        if console.is_terminal:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.completed}/{task.total} {task.fields[unit]}{task.fields[notes]}"),
                TimeRemainingColumn(),
                console=console,
            )

    def __enter__(self) -> Meter:
        if self._bar:
            self._bar.start()
            self._task = self._bar.add_task(self.title, total=self.total, unit=self.unit, notes="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar:
            self._bar.stop()
        if error is None:
            self._line()

    def advance(
        self, units: int, fresh: bool = True, rates: Mapping[str, int] = MappingProxyType({}), **notes: int
    ) -> None:
        """Work that was already there (`fresh` false) counts as done but says nothing about the speed.

        Notes are told as counts, `rates` per second.
        """
        with self._lock:
            self.done += units
            self._found += 0 if fresh else units
            for name, count in notes.items():
                self.notes[name] = self.notes.get(name, 0) + count
            for name, count in rates.items():
                self._rates[name] = self._rates.get(name, 0) + (count if fresh else 0)
            if self._bar:
                self._bar.update(self._task, completed=self.done, notes=self._notes())
            if self.done < self.total and time.monotonic() - self._last_line >= LINE_SECONDS:
                self._line()

    def tell(self, sentence: str) -> None:
        """Something to know besides, above the bar."""
        if self._bar:
            self._bar.console.print(sentence, highlight=False)
        else:
            print(sentence, file=sys.stderr, flush=True)

    def _notes(self) -> str:
        seconds = max(time.monotonic() - self._started, 1e-9)
        told = [f", {count:,} {name}" for name, count in self.notes.items() if count]
        told += [f", {count / seconds:,.0f} {name}/s" for name, count in self._rates.items() if count]
        return "".join(told)

    def _line(self) -> None:
        self._last_line = time.monotonic()
        seconds = self._last_line - self._started
        fresh = self.done - self._found
        left = ""
        if fresh and self.done < self.total:
            left = f", {seconds * (self.total - self.done) / fresh:.0f} s left"
        line = f"{self.title}: {self.done:,}/{self.total:,} {self.unit}{self._notes()} in {seconds:.0f} s{left}"
        if not self._bar:
            print(line, file=sys.stderr, flush=True)
        if self.log:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            with open(self.log, "a") as log:
                log.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {line}\n")
