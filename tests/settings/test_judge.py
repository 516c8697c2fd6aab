# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the runs of the matrix are judged by: each wrong end of a run is seen."""

from __future__ import annotations

import pytest
import rows
import runs
import scenes

SERVED = ("approved: 200", "web1 is out of service")
REFERENCE = scenes.Done(0, SERVED, True, "")
REFUSAL = 'fatal: [web1]: FAILED! => {"msg": "serial is 1, and all VMs must be in one batch"}'


def judged(outcome: str, code: int | None, did: tuple[str, ...], output: str = "", tells: bool = True) -> str:
    row = rows.Row("keyword", "serial", 1, outcome, words="serial", why="-", at=("play",))
    return runs.Run(scenes.SCENES[0], (row,), "play").judge(scenes.Done(code, did, tells, output), REFERENCE)


@pytest.mark.parametrize(
    ("outcome", "code", "did", "output", "tells"),
    [
        ("no difference", 0, (), "", True),
        ("no difference", 2, SERVED, "", True),
        ("no difference", None, SERVED, "", True),
        ("no difference", 0, SERVED[:1], "", True),
        ("no difference", 0, SERVED, "", False),
        ("refused", 0, (), REFUSAL, True),
        ("refused", None, (), REFUSAL, True),
        ("refused", 2, SERVED[1:], REFUSAL, True),
        ("refused", 2, (), "serial: 1\nfatal: [web1]: FAILED! => {}", True),
        ("as asked", 0, SERVED[1:], "", True),
        ("as asked", 2, (), "", True),
    ],
)
def test_another_end_is_another_outcome(outcome: str, code: int | None, did: tuple[str, ...], output: str, tells: bool) -> None:
    assert judged(outcome, code, did, output, tells) != outcome


def test_the_end_that_a_row_states_is_its_outcome() -> None:
    assert judged("no difference", 0, SERVED) == "no difference"
    assert judged("refused", 2, (), REFUSAL, False) == "refused"
    assert judged("as asked", 0, ()) == "as asked"


@pytest.mark.parametrize(
    "wrong",
    [
        {"outcome": "perhaps"},
        {"outcome": "refused"},
        {"outcome": "cannot matter"},
        {"outcome": "no difference", "names": ["x"]},
        {"outcome": "as asked", "whu": "-"},
    ],
    ids=str,
)
def test_a_row_that_says_too_little_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(rows.MatrixError):
        list(rows.read("configuration", {"names": {"x": 1}, **wrong}))
