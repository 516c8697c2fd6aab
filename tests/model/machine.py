# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One VM as the real records and leases see it, while a run is replayed up to its next step.

Code that calls a file operation cannot be stopped in the middle of the call and copied. So an act is run again from its
beginning for each of its steps, with the results that it got before; where these end, it is stopped and says what it wants.
"""

from __future__ import annotations

import hashlib
import types
from typing import Any

from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.host.system import utc_text
from ansible_collections.maintenance.azure.tests.model.fleet import START, Contents, Step

ERRORS = {"FileNotFoundError": FileNotFoundError, "FileExistsError": FileExistsError}


class Pause(BaseException):
    """The act wants a step whose result is not known yet."""

    def __init__(self, step: Step) -> None:
        super().__init__()
        self.step = step
        self.replay: Any = None


class Replay:
    """The results so far of one act, handed out again in their order."""

    def __init__(self, seed: str, clock: int, results: tuple[Any, ...], contents: Contents, clock_is_a_step: bool) -> None:
        self._seed = seed
        self._results = results
        self._place = 0
        self._identifiers = 0
        self._paused: Step | None = None
        self.checks_itself = False
        self.taken: list[tuple[str, bool]] = []
        self.clock = clock
        self.contents = contents
        self.clock_is_a_step = clock_is_a_step
        identifiers.replay = self

    def perform(self, step: Step) -> Any:
        """The result of this step, or the end of the replay."""
        if self._paused is not None or self._place >= len(self._results):
            # Clean-up code runs while the replay ends; what it would do comes when the act really gets there.
            self._paused = self._paused or step
            raise Pause(self._paused)
        self.clock, result = self._results[self._place]
        self._place += 1
        # A mark that is not there yet is an answer, and no reason to list anything again.
        self.taken.append((step[0], self.checks_itself or (step[0] == "read" and step[2].startswith("upgrade-"))))
        if isinstance(result, str):
            raise ERRORS[result](step)
        return result

    def identifier(self) -> str:
        """Instead of uuid4: another one for each run, act, revision it began with, and call; the same when replayed."""
        self._identifiers += 1
        return hashlib.sha256(f"{self._seed} {self._identifiers}".encode()).hexdigest()[:32]


def forget(results: tuple[Any, ...], taken: list[tuple[str, bool]]) -> tuple[Any, ...]:
    """The results without a reading that has to begin anew.

    Who lists the names and then finds one of them gone, or the name that it wants to take taken, lists them again and goes by
    what it sees then: such a run knows as much as one that has not begun. Nobody has seen anything of it in between.
    """
    kind, checks_itself = taken[-1]
    error = results[-1][1]
    again = (kind == "read" and error == "FileNotFoundError") or (kind == "link" and error == "FileExistsError")
    if not again or checks_itself:
        return results
    listed = [number for number, (one, _checks) in enumerate(taken) if one == "names"]
    return results[: listed[-1]] if listed else results


class Identifiers:
    """In place of the module uuid, in everything that writes files."""

    def __init__(self) -> None:
        self.replay: Replay | None = None

    def uuid4(self) -> types.SimpleNamespace:
        """What looks like a UUID."""
        if self.replay is None:
            raise AssertionError("nobody is writing")
        return types.SimpleNamespace(hex=self.replay.identifier())


identifiers = Identifiers()


class ModelFiles:
    """The directory of one VM.

    A temporary file has a name that nobody else uses and that readers leave out, so writing and removing it commutes with
    whatever another run does: it is no step, and is not part of the state. Nor is making the directory, or flushing it.
    """

    def __init__(self, replay: Replay, vm: int, only: tuple[str, ...] = ("",)) -> None:
        self.where = f"the records of VM {vm + 1}"
        self._replay = replay
        self._vm = vm
        self._only = only
        self._temporary: dict[str, bytes] = {}

    def make(self) -> None:
        """It is there."""

    def names(self) -> list[str]:
        """All names at one moment that begin with what this act goes by; the others would only tell equal states apart."""
        return list(self._replay.perform(("names", self._vm, *self._only)))

    def read(self, name: str) -> bytes:
        """The content, which never changes under a name but for mutants."""
        return self._replay.contents.known[self._replay.perform(("read", self._vm, name))]

    def write_exclusive(self, name: str, content: bytes) -> None:
        """Only ever a temporary file."""
        self._temporary[name] = content

    def link(self, old: str, new: str) -> None:
        """From here on others see the content."""
        self._replay.perform(("link", self._vm, new, self._replay.contents.number(self._temporary[old])))

    def rename(self, old: str, new: str) -> None:
        """In one step. A temporary file is renamed by mutants only."""
        if old in self._temporary:
            self._replay.perform(("replace", self._vm, new, self._replay.contents.number(self._temporary.pop(old))))
        elif old != new:
            self._replay.perform(("rename", self._vm, old, new))
        elif old not in self.names():
            raise FileNotFoundError(old)

    def unlink(self, name: str) -> None:
        """Gone for everybody, in one step."""
        if self._temporary.pop(name, None) is None:
            self._replay.perform(("unlink", self._vm, name))

    def sync(self) -> None:
        """A machine that loses its disk is another test's business."""

    def age(self, name: str) -> float:
        """Temporary files are not swept here."""
        return 0.0


class ModelHost:
    """The VM itself."""

    system = "linux"

    def __init__(self, replay: Replay, vm: int) -> None:
        self._replay = replay
        self._vm = vm

    def now(self) -> str:
        """Where time may pass, reading the clock is a step: the lease's limit may pass right before it or right after."""
        if self._replay.clock_is_a_step:
            self._replay.perform(("now", self._vm))
        return utc_text(START + self._replay.clock)

    def boot_id(self) -> str:
        """Nobody reboots."""
        return "boot"
