# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is run: the rows of the matrix as runs of a scene, those that cannot mask each other together in one."""

from __future__ import annotations

import dataclasses
import os
import typing as t

import listed
import rows
import scenes

WHOLE = os.environ.get("SETTINGS_MATRIX") == "whole"


@dataclasses.dataclass(frozen=True)
class Run:
    scene: scenes.Scene
    rows: tuple[rows.Row, ...]  # as they are for this scene's playbook: with one outcome
    at: str  # of keywords: play or role

    @property
    def name(self) -> str:
        first = self.rows[0]
        where = f" at the {self.at}" if self.at else ""
        if len(self.rows) > 1:
            return f"{self.scene.name}: {len(self.rows)} of {first.kind}{where}"
        return f"{self.scene.name}: {first.name}{'' if first.value is None else f' {first.value}'}{where}"

    def setting(self, configuration: t.Mapping[str, t.Mapping[str, t.Any]]) -> scenes.Setting:
        kind = self.rows[0].kind
        if kind == "keyword":
            return scenes.Setting(**{self.at: {row.name: row.value for row in self.rows}})
        if kind == "command line":
            words = [word for row in self.rows for word in (row.name, *([] if row.value is None else [row.value]))]
            return scenes.Setting(arguments=tuple(words))
        environment, ini = {}, {}
        for row in self.rows:
            known = configuration[row.name]
            if known.get("env"):
                environment[known["env"][0]["name"]] = str(row.value)
            else:
                ini[known["ini"][0]["section"], known["ini"][0]["key"]] = str(row.value)
        return scenes.Setting(environment=environment, configuration=ini)

    def judge(self, done: scenes.Done, reference: scenes.Done) -> str:
        """What the run came to: the outcome that its rows state, or what happened instead."""
        row = self.rows[0]
        happened = f"exit code {done.code}, {', '.join(done.did) or 'nothing done'}"
        if row.outcome == "refused":
            red = [line for line in done.output.splitlines() if "fatal: " in line or "ERROR" in line]
            named = any(row.words in line for line in red)
            return row.outcome if done.code and not done.did and named else f"{happened}{'' if named else f', no red line names {row.words}'}"
        if row.outcome == "as asked":
            return row.outcome if (done.code, done.did) == (row.code or 0, ()) else happened
        if reference.tells and not done.tells and not row.silent:
            happened += ", and not a word of the VM that did not answer"
            return happened
        code = reference.code if row.code is None else row.code
        return row.outcome if (done.code, done.did) == (code, reference.did) else happened


def runs(core: tuple[int, ...] | None = None) -> list[Run]:
    """In CI role and playbook respond; the whole by a switch (docs/TESTING.md)."""
    version = core or listed.core()
    known = [row for row in rows.load() if row.known_to(version) and row.outcome in rows.TRIED and (row.ci or WHOLE)]
    return [run for scene in scenes.SCENES if WHOLE or scene.playbook == "respond" for run in _runs_of(scene, known)]


def _runs_of(scene: scenes.Scene, known: t.Sequence[rows.Row]) -> t.Iterator[Run]:
    together: dict[tuple[t.Any, ...], list[rows.Row]] = {}
    for row in known:
        mine = row.on(scene.playbook, scene.own)
        for at in _places(scene, mine):
            if mine.alone or mine.outcome != "no difference":
                waits = mine.waits and scene.playbook == "respond" and (WHOLE or not scene.own)
                yield Run(scenes.WAITING[scene.own] if waits else scene, (mine,), at)
                continue
            # A second value of a setting needs a second run.
            turn = sum(other.name == mine.name for key, group in together.items() if key[:2] == (mine.kind, at) for other in group)
            together.setdefault((mine.kind, at, mine.code, turn), []).append(mine)
    for (_kind, at, _code, _turn), group in together.items():
        yield Run(scene, tuple(group), at)


def _places(scene: scenes.Scene, row: rows.Row) -> tuple[str, ...]:
    """Keywords are tried in users' own plays, in CI at one place; the rest in CI with the playbook, and in the whole with both."""
    if row.outcome not in rows.TRIED:
        return ()
    if row.kind == "keyword":
        return (row.at if WHOLE else row.at[:1]) if scene.own else ()
    return ("",) if WHOLE or not scene.own else ()
