# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A process in which pytest has collected all tests, and that forks for each mutant of a function: nothing is imported or collected again.

In the fork the functions of the changed file get the mutant's code. That is the whole mutant where nothing of the changed statement runs when
its file is imported, which the baseline tells.
"""

from __future__ import annotations

import gc
import json
import os
import pathlib
import resource
import types
import typing as t
from collections import defaultdict

import pytest


class Server:
    """A pytest plugin: in place of running the tests, answer requests; a fork returns, and pytest runs the tests that it chose."""

    def __init__(self, requests: t.IO[str], answers: int, log: pathlib.Path) -> None:
        self.requests = requests
        self.answers = answers
        self.log = log

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        items = {item.nodeid: item for item in session.items}
        functions = _functions()
        gc.collect()
        gc.freeze()
        for line in self.requests:
            request = json.loads(line)
            child = os.fork()
            if not child:
                os.setsid()
                os.close(self.answers)
                limit_processor_time(request["seconds"])
                os.truncate(self.log, 0)
                _patch(functions, str(pathlib.Path.cwd() / request["path"]), request["mutant"])
                session.items[:] = [items[test] for test in request["tests"]]
                return None
            self._answer(child)
            self._answer(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        return True

    def _answer(self, number: int) -> None:
        os.write(self.answers, f"{number}\n".encode())


def limit_processor_time(seconds: float) -> None:
    """Have this process end after so much more processor time: a limit on the clock would end a mutant that another process kept from running."""
    limit = int(sum(os.times()[:2]) + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))


def _functions() -> dict[str, list[types.FunctionType]]:
    """Return all functions there are, by file."""
    found: dict[str, list[types.FunctionType]] = defaultdict(list)
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType):
            found[one.__code__.co_filename].append(one)
    return found


def _patch(functions: dict[str, list[types.FunctionType]], path: str, mutant: str) -> None:
    """Give the functions of a file the code of the mutant."""
    codes: dict[tuple[str, int], types.CodeType] = {}
    left = [compile(mutant, path, "exec", dont_inherit=True)]
    while left:
        for constant in left.pop().co_consts:
            if isinstance(constant, types.CodeType):
                codes[(constant.co_qualname, constant.co_firstlineno)] = constant
                left.append(constant)
    for function in functions[path]:
        function.__code__ = codes[(function.__code__.co_qualname, function.__code__.co_firstlineno)]
