# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Scenes as the files in the folder scenes have them: VMs, events, what changes between the runs, and what must be true after each."""

from __future__ import annotations

import dataclasses
import pathlib
import typing as t

import yaml

FOLDER = pathlib.Path(__file__).resolve().parent / "scenes"
RUNS = ("first", "second", "third")

RecordChange = dict[str, t.Any]


@dataclasses.dataclass(frozen=True)
class VM:
    """One VM of a scene."""

    simulator: dict[str, t.Any] = dataclasses.field(default_factory=dict)
    """Its properties in the simulator, such as its zone."""
    variables: dict[str, t.Any] = dataclasses.field(default_factory=dict)
    """Its variables in the inventory."""
    clock: float = 0
    """Seconds by which its wall clock is fast."""
    joins: bool = False
    """Whether it is not in the inventory from the start."""
    enabled: bool = True
    """Whether somebody has asked for its document before the first run."""
    server: bool = False
    """Whether it is a server of the real HAProxy."""


@dataclasses.dataclass(frozen=True)
class Lease:
    """One thing that must be true after a run: of a VM, an event or what the run printed."""

    scene: str
    run: str
    subject: str
    key: str
    expected: t.Any

    def __str__(self) -> str:
        return f"{self.scene}-{self.run}-{self.subject}-{self.key}"


@dataclasses.dataclass(frozen=True)
class Scene:
    """One file."""

    name: str
    about: str
    vms: dict[str, VM]
    events: dict[str, dict[str, t.Any]] = dataclasses.field(default_factory=dict)
    settings: dict[str, t.Any] = dataclasses.field(default_factory=dict)
    """Variables of all hosts."""
    between: list[RecordChange] = dataclasses.field(default_factory=list)
    """Between the first and the second run."""
    during: list[RecordChange] = dataclasses.field(default_factory=list)
    """In the second run, each once the VM C(after_observation_of) was asked in it."""
    after: list[RecordChange] = dataclasses.field(default_factory=list)
    """Between the second and the third run."""
    then: dict[str, dict[str, dict[str, t.Any]]] = dataclasses.field(default_factory=dict)
    """By run, then by VM, event or C(output): what must be true."""

    def leases(self) -> t.Iterator[Lease]:
        for run, subjects in self.then.items():
            for subject, facts in subjects.items():
                for key, expected in facts.items():
                    yield Lease(self.name, run, subject, key, expected)


def read(path: pathlib.Path) -> Scene:
    """One scene; a key that there is not is an error."""
    given = yaml.safe_load(path.read_text())
    given["vms"] = {name: VM(**(values or {})) for name, values in given["vms"].items()}
    scene = Scene(path.stem, **given)
    unknown = [lease for lease in scene.leases() if lease.run not in RUNS]
    if unknown:
        raise ValueError(f"{path.name}: there is no run {unknown[0].run}")
    return scene


def read_all() -> list[Scene]:
    return [read(path) for path in sorted(FOLDER.glob("*.yml"))]
