# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import pathlib
import sys
import typing as t

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from lab.lab import Lab  # noqa: E402  the folder of tests is no package

# Half the processes for each task, as many real runs have it. Other suites send modules as files.
os.environ["ANSIBLE_PIPELINING"] = "1"


@pytest.fixture
def make_lab(tmp_path: pathlib.Path) -> t.Iterator[t.Callable[..., Lab]]:
    """Labs that are closed when the test ends, however it ends."""
    yield from labs_in(tmp_path)


@pytest.fixture(scope="module")
def idle_lab(tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Lab]:
    """One lab for all tests of a file that read what is printed where nothing is done: two VMs without an event."""
    for make in labs_in(tmp_path_factory.mktemp("idle")):
        yield make(["web1", "web2"])


def labs_in(folder: pathlib.Path) -> t.Iterator[t.Callable[..., Lab]]:
    labs: list[Lab] = []

    def make(*arguments: t.Any, **options: t.Any) -> Lab:
        labs.append(Lab(folder / f"lab{len(labs)}", *arguments, **options))
        return labs[-1]

    yield make
    for lab in labs:
        lab.close()
