# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cases below cases/, and one case played on one way."""

from __future__ import annotations

import dataclasses
import itertools
import json
import pathlib
import re
import socket
import typing as t

import yaml

from ansible_collections.maintenance.azure.tests.contract.endpoint import Endpoint, closed_port
from ansible_collections.maintenance.azure.tests.contract.ways import Way

HERE = pathlib.Path(__file__).resolve().parent
# Without retries each fault shows as it is; cases about retries say how many.
DEFAULTS = {"retries": 0, "connect_timeout": 1, "request_timeout": 20}
RECORD_MODULES = ("maintenance_history", "maintenance_info", "maintenance_lease", "maintenance_record")


@dataclasses.dataclass(frozen=True)
class Case:
    file: str
    name: str
    serve: dict[str, t.Any]
    files: dict[str, t.Any]
    steps: list[dict[str, t.Any]]
    play: bool = False

    @property
    def id(self) -> str:
        return f"{self.file}: {self.name}"


def load(folder: pathlib.Path = HERE / "cases") -> list[Case]:
    """All of them, in the order of their files."""
    found = []
    for path in sorted(folder.glob("*.yml")):
        for entry in yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            shared = {key: entry.pop(key, default) for key, default in (("serve", {}), ("files", {}), ("play", False))}
            name = entry.pop("name")
            steps = entry.pop("steps", None) or [entry]
            found.append(Case(path.stem, name, shared["serve"], shared["files"], steps, shared["play"]))
    return found


class Played(t.NamedTuple):
    """What came of a case on one way, with the names of this run's ports and folders taken out."""

    results: list[dict[str, t.Any]]
    requests: list[dict[str, t.Any]]
    files: dict[str, t.Any]


class Stage:
    """One case on one way: the endpoint, ports and files that it needs."""

    def __init__(self, case: Case, way: Way) -> None:
        self.case = case
        self.way = way
        self.endpoint = Endpoint(case.serve)
        self.service = socket.create_server(("127.0.0.1", 0))
        self.names = {
            "$endpoint": f"http://127.0.0.1:{self.endpoint.port}",
            "$closed": str(closed_port()),
            "$open": str(self.service.getsockname()[1]),
            "$port": str(self.endpoint.port),
            "$records": way.records,
            "$boot": way.boot,
            "$there": way.path_of_file("there"),
            "$missing": way.path_of_file("missing"),
        }

    def close(self) -> None:
        self.endpoint.close()
        self.service.close()

    def play(self) -> Played:
        self.make_files()
        return self.played([self.way.run(step["module"], self.options(step), *self.modes(step)) for step in self.case.steps])

    def played(self, results: list[dict[str, t.Any]]) -> Played:
        """With everything beside the results that the steps have left."""
        return Played(*(self._general(part) for part in (results, _together(self.endpoint.requests), self._files())))

    def modes(self, step: dict[str, t.Any]) -> tuple[bool, bool]:
        return step.get("check_mode", False), step.get("diff", False)

    def options(self, step: dict[str, t.Any]) -> dict[str, t.Any]:
        options: dict[str, t.Any] = {}
        if step["module"] not in ("maintenance_history", "maintenance_lease", "maintenance_record"):
            options.update(DEFAULTS, endpoint="$endpoint")
        if step["module"] in RECORD_MODULES:
            options["records_path"] = "$records"
        options.update(step.get("options", {}))
        # "omitted" takes a default of this file away.
        return {key: self._fill(value) for key, value in options.items() if value != "$omitted"}

    def _fill(self, value: t.Any) -> t.Any:
        if isinstance(value, dict):
            return {key: self._fill(entry) for key, entry in value.items()}
        if isinstance(value, list):
            return [self._fill(entry) for entry in value]
        if not isinstance(value, str):
            return value
        if value.startswith("$many "):
            # A long text: "$many 5000 x".
            _many, count, text = value.split(" ", 2)
            return text * int(count)
        for name, text in self.names.items():
            value = value.replace(name, text)
        return value

    def _general(self, part: t.Any) -> t.Any:
        """The reverse of _fill, in everything that came back."""
        text = json.dumps(part)
        for name, value in sorted(self.names.items(), key=lambda item: -len(item[1])):
            # A port is one where it is called so; its digits may stand in any number.
            pattern = rf"(?<=:){value}\b|(?<=port ){value}\b" if value.isdecimal() else re.escape(json.dumps(value)[1:-1])
            text = re.sub(pattern, lambda _found, name=name: name, text)  # type: ignore[misc]
        return json.loads(text)

    def make_files(self) -> None:
        self.way.make_file("there")
        for name, content in self.case.files.items():
            self.way.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            text = content if isinstance(content, str) else json.dumps(content)
            (self.way.folder / name).write_text(text, encoding="utf-8")

    def _files(self) -> dict[str, t.Any]:
        """What lies in the folder of the records, without times in names."""
        if not self.way.folder.is_dir():
            return {"no folder": True}
        found = (path for path in sorted(self.way.folder.rglob("*")) if path.is_file())
        return {path.relative_to(self.way.folder).as_posix(): _content(path) for path in found}


def _together(requests: list[dict[str, t.Any]]) -> list[dict[str, t.Any]]:
    """Equal requests in a row as one with their number: a wait sends hundreds."""
    groups = [(request, len([*group])) for request, group in itertools.groupby(requests)]
    return [{**request, "times": times} if times > 1 else request for request, times in groups]


def _content(path: pathlib.Path) -> t.Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return path.read_text(encoding="utf-8", errors="replace")
