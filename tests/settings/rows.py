# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The rows of the matrix (matrix/*.yml): what each setting of Ansible makes of the playbooks and roles of this collection."""

from __future__ import annotations

import dataclasses
import pathlib
import typing as t

import yaml

FOLDER = pathlib.Path(__file__).resolve().parent / "matrix"
KINDS = ("keyword", "configuration", "command line")
PLAYBOOKS = ("respond", "gate", "upgrade", "decide", "status", "report", "watch")
# "as asked": the setting asks that nothing is done, and nothing is. "cannot matter" is not tried, and says why.
TRIED = ("no difference", "refused", "as asked")
OUTCOMES = (*TRIED, "cannot matter")
OWN = "own play"  # a key of "other" as playbooks are: what differs for a role in a user's play
KEYS = {"names", "cores", "outcome", "words", "why", "code", "alone", "waits", "silent", "at", "other", "ci"}
OLDEST, NEWEST = (2, 18), (2, 21)


class MatrixError(Exception):
    """A row that says nothing, or two things."""


@dataclasses.dataclass(frozen=True)
class Row:
    kind: str
    name: str
    value: t.Any
    outcome: str
    words: str = ""  # of "refused": what the run's red line says
    why: str = ""
    code: t.Any = None  # an exit code that differs from what the outcome says
    silent: bool = False  # it asks not to say which VM did not answer
    waits: bool = False  # tried with a run of respond that waits
    alone: bool = False  # it may mask another setting, or be masked, so it has a run of its own
    at: tuple[str, ...] = ()  # of a keyword: where in a user's own play
    cores: str = ""  # the versions of ansible-core that have it, where these are not all: 2.18, 2.19-, -2.19
    other: t.Mapping[str, t.Mapping[str, t.Any]] = dataclasses.field(default_factory=dict)  # playbooks for which something differs
    ci: bool = True

    def on(self, playbook: str, own: bool = False) -> Row:
        """The row for one of the playbooks, or for its role in a user's own play."""
        return dataclasses.replace(self, **{**self.other.get(playbook, {}), **(self.other.get(OWN, {}) if own else {})}, other={})

    def known_to(self, core: tuple[int, ...]) -> bool:
        first, dash, last = self.cores.partition("-")
        since = _version(first) if first else OLDEST
        until = _version(last) if last else NEWEST if dash or not first else since
        return since <= core[:2] <= until


def _version(text: str) -> tuple[int, int]:
    major, minor = text.split(".")
    return int(major), int(minor)


def load() -> list[Row]:
    rows = [row for kind in KINDS for entry in yaml.safe_load((FOLDER / f"{kind.replace(' ', '_')}.yml").read_text()) for row in read(kind, entry)]
    for kind in KINDS:
        names = [(row.name, str(row.value), row.at, row.cores) for row in rows if row.kind == kind]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise MatrixError(f"{kind}: more than one row for {sorted(twice)}")
    return rows


def read(kind: str, entry: dict[str, t.Any]) -> t.Iterator[Row]:
    if set(entry) - KEYS or entry["outcome"] not in OUTCOMES:
        raise MatrixError(f"{kind}: {entry}")
    more = {key: value for key, value in entry.items() if key not in ("names", "at")}
    for name, values in _names(entry["names"]):
        for value in values:
            row = Row(kind, name, value, at=tuple(entry.get("at", ())), **more)
            for playbook in ("", *row.other):
                _check(row.on(playbook, own=playbook == OWN))
            yield row


def _names(names: t.Any) -> t.Iterator[tuple[str, list[t.Any]]]:
    """Names with a value that is tried, or with several; names alone where none is."""
    if isinstance(names, dict):
        for name, value in names.items():
            yield name, value if isinstance(value, list) else [value]
    else:
        for name in names:
            yield name, [None]


def _check(row: Row) -> None:
    tried = row.outcome in TRIED
    if row.outcome == "refused" and not row.words:
        raise MatrixError(f"{row.name}: the words of the refusal are missing")
    if row.outcome in ("as asked", "cannot matter") and not row.why:
        raise MatrixError(f"{row.name}: the reason is missing")
    if tried and row.kind != "command line" and row.value is None:
        raise MatrixError(f"{row.name}: the value to try is missing")
    if tried and row.kind == "keyword" and not set(row.at) <= {"play", "role"} or (tried and row.kind == "keyword" and not row.at):
        raise MatrixError(f"{row.name}: where in a play it is tried (at: play, role) is missing")
