# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt). Copyright (c) 2026, The maintenance.azure authors

# PRIVATE to the collection: it can have breaking changes at any time.
"""Prometheus' text format 0.0.4, and the file in which node_exporter's textfile collector finds it. No library: the asker's memory is small."""

from __future__ import annotations

import typing as t

from .shared_folder import SharedFolder

PREFIX = "azure_scheduled_events_"
GAUGE, COUNTER = "gauge", "counter"
# Programs of other users read it.
MODE = 0o644
ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


class Sample(t.NamedTuple):
    """One value, with its labels."""

    value: float
    labels: t.Mapping[str, str] = {}


class Metric(t.NamedTuple):
    """One metric; without samples nothing is written of it."""

    name: str
    """Without the prefix that all metrics share."""
    kind: str
    help: str
    samples: t.Sequence[Sample]


def metric(name: str, kind: str, text: str, value: float | None) -> Metric:
    """Return a metric with one value, or with none where it is not known."""
    return Metric(name, kind, text, [] if value is None else [Sample(value)])


def exposition(metrics: t.Iterable[Metric]) -> bytes:
    """Return the text of all metrics."""
    return "".join(_text(one) for one in metrics if one.samples).encode("utf-8", "replace")


def _text(one: Metric) -> str:
    name = PREFIX + one.name
    lines = [f"# HELP {name} {one.help}", f"# TYPE {name} {one.kind}"]
    lines += [f"{name}{_labels(sample.labels)} {sample.value!r}" for sample in one.samples]
    return "\n".join(lines) + "\n"


def _labels(labels: t.Mapping[str, str]) -> str:
    inside = ",".join(f'{name}="{value.translate(ESCAPES)}"' for name, value in labels.items())
    return f"{{{inside}}}" if inside else ""


class MetricsFile:
    """One file of metrics in a folder of other programs, with temporary files that no other writer takes for its own. The methods raise OSError."""

    def __init__(self, where: str, name: str) -> None:
        self._folder = SharedFolder(where, mode=MODE, temporary=f".{name}-")
        self._name = name

    def write(self, metrics: t.Iterable[Metric]) -> None:
        """Write the file in one step."""
        self._folder.write(self._name, exposition(metrics), durable=False)

    def remove(self) -> None:
        """Remove the file, so that old metrics are not taken for those of now."""
        self._folder.remove(self._name)

    def remove_leftovers(self) -> None:
        """Remove temporary files of a writer that was killed."""
        self._folder.remove_leftovers()
