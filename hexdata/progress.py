"""Progress of long work: a live bar on a terminal, one line now and then elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

LINE_SECONDS = 10.0


class Meter:
    """Counts units of work and notes beside them. Safe to advance from several threads."""

    def __init__(self, title: str, total: int, unit: str) -> None:
        self.title, self.total, self.unit = title, total, unit
        self.done = 0
        self._found = 0
        self.notes: dict[str, int] = {}
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
        elif error is None:
            self._line()

    def advance(self, units: int, fresh: bool = True, **notes: int) -> None:
        """Work that was already there (`fresh` false) counts as done but says nothing about the speed."""
        with self._lock:
            self.done += units
            self._found += 0 if fresh else units
            for name, count in notes.items():
                self.notes[name] = self.notes.get(name, 0) + count
            if self._bar:
                self._bar.update(self._task, completed=self.done, notes=self._notes())
            elif time.monotonic() - self._last_line >= LINE_SECONDS:
                self._line()

    def _notes(self) -> str:
        return "".join(f", {count:,} {name}" for name, count in self.notes.items())

    def _line(self) -> None:
        self._last_line = time.monotonic()
        seconds = self._last_line - self._started
        fresh = self.done - self._found
        left = ""
        if fresh and self.done < self.total:
            left = f", {seconds * (self.total - self.done) / fresh:.0f} s left"
        print(
            f"{self.title}: {self.done:,}/{self.total:,} {self.unit}{self._notes()} in {seconds:.0f} s{left}",
            file=sys.stderr,
            flush=True,
        )
