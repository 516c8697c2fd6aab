# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Comparing whole results: what may be left out, what is general, and which differences are justified. All of that is data."""

from __future__ import annotations

import datetime
import fnmatch
import hashlib
import pathlib
import re
import typing as t

import yaml

HERE = pathlib.Path(__file__).resolve().parent
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
# Names of leases end with their time limit in milliseconds.
LIMIT = re.compile(r"(claim-[0-9a-z]+-[0-9a-f]+)\.\d{13}")
# A longer text is compared by its length and hash; files of megabytes are read by nobody.
LONGEST = 4000
MISSING = "(not there)"


class Difference(t.NamedTuple):
    case: str
    key: str
    linux: t.Any
    windows: t.Any


class Rules:
    """left_out.yml and differences.yml, and which of their entries were of use."""

    def __init__(self, folder: pathlib.Path = HERE) -> None:
        self.left_out: list[dict[str, str]] = yaml.safe_load((folder / "left_out.yml").read_text(encoding="utf-8"))
        self.justified: list[dict[str, t.Any]] = yaml.safe_load((folder / "differences.yml").read_text(encoding="utf-8")) or []
        self.used: set[str] = set()

    def general(self, value: t.Any) -> t.Any:
        """Without what is left out; times of this run become NOW."""
        if isinstance(value, dict):
            return {_general_text(name): self.general(entry) for name, entry in value.items() if not self._is_left_out(name)}
        if isinstance(value, list):
            return [self.general(entry) for entry in value]
        return self._without_parts(_general_text(value)) if isinstance(value, str) else value

    def _is_left_out(self, name: str) -> bool:
        left_out = any(entry.get("key") == name for entry in self.left_out)
        if left_out:
            self.used.add("left out: " + name)
        return left_out

    def _without_parts(self, text: str) -> str:
        for pattern in (entry["text"] for entry in self.left_out if "text" in entry):
            shorter = re.sub(pattern, "(...)", text, flags=re.DOTALL)
            if shorter != text:
                self.used.add("left out: " + pattern)
            text = shorter
        return text

    def justification(self, found: Difference) -> str | None:
        """Why this difference is right; None when nothing says so."""
        for number, entry in enumerate(self.justified):
            if not fnmatch.fnmatchcase(found.case, entry["cases"]):
                continue
            keys = [key for key in entry["keys"] if fnmatch.fnmatchcase(found.key, key)]
            if keys and _matches(entry["linux"], found.linux) and _matches(entry["windows"], found.windows):
                self.used.update(f"justified: {number} {key}" for key in keys)
                return str(entry["why"])
        return None

    def unused(self) -> list[str]:
        names = [entry.get("key") or entry["text"] for entry in self.left_out]
        every = {"left out: " + name: name for name in names}
        for number, entry in enumerate(self.justified):
            every.update({f"justified: {number} {key}": f"{entry['cases']} | {key}" for key in entry["keys"]})
        return [text for name, text in every.items() if name not in self.used]


def _matches(pattern: str, value: t.Any) -> bool:
    return re.search(pattern, value if isinstance(value, str) else repr(value), re.DOTALL) is not None


def _general_text(text: str) -> str:
    if len(text) > LONGEST:
        return f"{text[:80]}... ({len(text)} characters, SHA-256 {hashlib.sha256(text.encode()).hexdigest()})"
    return LIMIT.sub(r"\1.LIMIT", TIME.sub(_now, text))


def _now(found: re.Match[str]) -> str:
    moment = datetime.datetime.fromisoformat(found.group().replace("Z", "+00:00"))
    near = abs(moment - datetime.datetime.now(datetime.timezone.utc)) < datetime.timedelta(days=1)
    return "NOW" if near else found.group()


def differences(case: str, linux: t.Any, windows: t.Any, key: str = "") -> t.Iterator[Difference]:
    """Every leaf that differs, by its place: ``results.0.events.1.not_before``."""
    if isinstance(linux, dict) and isinstance(windows, dict):
        for name in [*linux, *(name for name in windows if name not in linux)]:
            yield from differences(case, linux.get(name, MISSING), windows.get(name, MISSING), f"{key}.{name}".lstrip("."))
    elif isinstance(linux, list) and isinstance(windows, list) and len(linux) == len(windows):
        for number, (one, other) in enumerate(zip(linux, windows)):
            yield from differences(case, one, other, f"{key}.{number}".lstrip("."))
    elif linux != windows or type(linux) is not type(windows):
        yield Difference(case, key, linux, windows)
