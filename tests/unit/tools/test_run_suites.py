# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What runs the suites: what fails must show, and what hangs must end."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import time
import typing as t

import pytest

HERE = pathlib.Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(HERE))

import run_suites  # noqa: E402
import suites  # noqa: E402


@pytest.fixture(autouse=True)
def logs(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setattr(run_suites, "LOGS", tmp_path)
    monkeypatch.setattr(run_suites, "ROOT", tmp_path)


def suite(name: str, script: str, limit: int = 20, counts: str = "exit code", needs: tuple[str, ...] = (), **more: t.Any) -> suites.Suite:
    return suites.Suite(name, ("/bin/sh", "-c", script), limit, counts, needs=needs, **more)


def outcome(*wanted: suites.Suite) -> dict[str, tuple[int, int]]:
    return {result.name: (result.passed, result.failed) for result in run_suites.run(list(wanted))}


@pytest.mark.parametrize(
    ("script", "counts", "expected"),
    [
        ("true", "exit code", (1, 0)),
        ("false", "exit code", (0, 1)),
        ("no-such-program", "exit code", (0, 1)),
        ("echo 7 passed, 0 failed", "closing line", (7, 0)),
        ("echo 7 passed, 2 failed; exit 1", "closing line", (7, 2)),
        ("echo 7 passed, 0 failed; exit 1", "closing line", (7, 1)),
        ("echo 0 passed, 0 failed", "closing line", (0, 1)),
        ("echo 7 passed, 0 failed; echo more", "closing line", (0, 1)),
        ("true", "closing line", (0, 1)),
        ("true", "pytest", (0, 1)),
    ],
)
def test_what_counts(script: str, counts: str, expected: tuple[int, int]) -> None:
    assert outcome(suite("one", script, counts=counts)) == {"one": expected}


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('tests="5" failures="0" errors="0" skipped="0"', (5, 0)),
        ('tests="5" failures="1" errors="1" skipped="0"', (3, 2)),
        ('tests="5" failures="0" errors="0" skipped="2"', (3, 2)),
        ('tests="0" failures="0" errors="0" skipped="0"', (0, 1)),
    ],
)
def test_a_skipped_test_and_no_test_are_failures(tmp_path: pathlib.Path, attributes: str, expected: tuple[int, int]) -> None:
    path = tmp_path / "junit.xml"
    path.write_text(f"<testsuites><testsuite {attributes}/></testsuites>")
    assert run_suites.read_junit(path)[:2] == expected


def test_what_hangs_is_ended_with_its_children(tmp_path: pathlib.Path) -> None:
    began = time.monotonic()
    assert outcome(suite("hangs", f"(sleep 2; touch {tmp_path}/alive) & sleep 60", limit=0.5)) == {"hangs": (0, 1)}
    assert time.monotonic() - began < 30
    time.sleep(2)
    assert not (tmp_path / "alive").exists()


def test_what_outlives_the_first_process_of_a_suite_is_ended_too(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_suites, "PATIENCE", 1.0)
    assert outcome(suite("stubborn", f"(trap '' TERM; sleep 3; touch {tmp_path}/alive) & sleep 60", limit=0.5)) == {"stubborn": (0, 1)}
    time.sleep(3)
    assert not (tmp_path / "alive").exists()


def test_a_second_signal_does_not_break_off_the_end(tmp_path: pathlib.Path) -> None:
    body = f"import sys; sys.path.insert(0, {str(HERE)!r}); import run_suites, suites, pathlib"
    body += f"; run_suites.LOGS = run_suites.ROOT = pathlib.Path({str(tmp_path)!r})"
    script = f"(trap '' TERM; touch {tmp_path}/began; sleep 4; touch {tmp_path}/alive) & sleep 60"
    body += f"; suites.find = lambda _group: [suites.Suite('one', ('/bin/sh', '-c', {script!r}), 60)]; run_suites.PATIENCE = 1.0; run_suites.main()"
    running = subprocess.Popen([sys.executable, "-c", body, "test"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while not (tmp_path / "began").exists():
        time.sleep(0.05)
    for _twice in range(2):
        running.terminate()
        time.sleep(0.3)
    assert "stopped by SIGTERM" in running.communicate(timeout=20)[0] and running.returncode == 1
    time.sleep(4)
    assert not (tmp_path / "alive").exists()


def test_what_needs_something_broken_is_not_run(tmp_path: pathlib.Path) -> None:
    after = suite("after", f"touch {tmp_path}/ran", needs=("before",))
    assert outcome(after, suite("before", "false")) == {"before": (0, 1), "after": (0, 1)}
    assert not (tmp_path / "ran").exists()


def test_what_may_be_skipped_counts_as_neither_and_so_does_what_needs_it(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    needing = suite("needing", f"touch {tmp_path}/ran", needs=("may",))
    may, must = suite("may", "echo 'skipped: no Go'", may_skip=True), suite("must", "echo 'skipped: no Go'")
    broken = suite("broken", "echo 'skipped: no Go'; false", may_skip=True)
    assert outcome(needing, may, must, broken) == {"needing": (0, 0), "may": (0, 0), "must": (1, 0), "broken": (0, 1)}
    assert not (tmp_path / "ran").exists()
    assert "skip   needing: 0 good, 0 bad, 0 s, 0 s of processor time skipped: no Go" in capsys.readouterr().out


def test_what_runs_after_others_waits_for_their_end_whatever_it_is(tmp_path: pathlib.Path) -> None:
    late = suite("late", f"test -e {tmp_path}/ended", after=("timed", "not asked for"))
    assert outcome(late, suite("timed", f"sleep 0.5; touch {tmp_path}/ended; false")) == {"late": (1, 0), "timed": (0, 1)}


def test_two_at_a_time(tmp_path: pathlib.Path) -> None:
    script = f"echo >> {tmp_path}/now; sleep 0.5; wc -l < {tmp_path}/now > {tmp_path}/most-$$"
    assert outcome(*(suite(f"s{number}", script) for number in range(3))) == {f"s{number}": (1, 0) for number in range(3)}
    most = [int(path.read_text()) for path in tmp_path.glob("most-*")]
    assert sorted(most)[0] == 2


@pytest.mark.parametrize(("idle", "together"), [(2.0, 4), (run_suites.IDLE_PROCESSORS / 2, 2)])
def test_more_at_a_time_while_processors_are_idle(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, idle: float, together: int) -> None:
    began = time.monotonic()
    monkeypatch.setattr(run_suites, "LOOK_SECONDS", 0.2)
    monkeypatch.setattr(run_suites, "MOST_SUITES", 4)
    monkeypatch.setattr(run_suites.IdleProcessors, "_read", staticmethod(lambda: idle * (time.monotonic() - began)))
    # Each ends when as many as can be are there, or after a while; more than MOST_SUITES never are.
    script = f"touch {tmp_path}/now-$$; for n in $(seq 30); do ls {tmp_path}/now-* | wc -l >> {tmp_path}/counts; sleep 0.1; done; rm {tmp_path}/now-$$"
    assert outcome(*(suite(f"s{number}", script) for number in range(6))) == {f"s{number}": (1, 0) for number in range(6)}
    assert max(map(int, (tmp_path / "counts").read_text().split())) == together


def test_without_figures_of_the_machine_no_more_run_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_suites, "LOOK_SECONDS", 0.0)

    def missing(path: pathlib.Path) -> str:
        raise FileNotFoundError(str(path))

    monkeypatch.setattr(run_suites.pathlib.Path, "read_text", missing)
    assert not run_suites.IdleProcessors().room()


def test_a_missing_folder_of_tests_is_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    (tmp_path / "tests").mkdir()
    monkeypatch.setattr(suites, "ROOT", tmp_path)
    assert set(suites.EXPECTED_FOLDERS) <= set(suites.pytest_folders())


def test_every_suite_has_a_name_of_its_own_and_what_it_needs() -> None:
    every = suites.test_suites() + suites.heavy_suites()
    names = [one.name for one in every]
    assert len(set(names)) == len(names)
    assert {need for one in every for need in one.needs} <= set(names)
