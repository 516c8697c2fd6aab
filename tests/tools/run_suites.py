# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run suites side by side, as many as keep two processors busy, each with a log and a time limit, and end with one line 'N passed, N failed'.

A suite that hangs, is missing, collected nothing or skipped a test has failed. One that the machine cannot run, and that may say so, is named as skipped before
the last line, and counts as neither.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

import suites as known

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOGS = ROOT / ".build" / "logs"
# Two, and a little more, because no suite keeps its processors busy all the time.
PROCESSORS = 2.3
CLOSING_LINE = re.compile(r"^(\d+) passed, (\d+) failed$")
SKIPPED = "skipped: "
# pytest's short summary of a test, which may stand far above the end of a suite's log.
FAILED_TEST = re.compile(r"^(?:FAILED|ERROR) \S+.*")


# Seconds that a suite has to end, before it is ended.
PATIENCE = 10.0
ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# More do not run side by side, however idle the machine is: each has its memory, its ports and its guests.
MOST_SUITES = 5
# Over so many seconds the machine is looked at, and so many processors must have been idle for one more suite. Suites wait in most of their minutes, and not
# as long on every machine, so what is known of them beforehand leaves processors idle.
LOOK_SECONDS, IDLE_PROCESSORS = 15.0, 0.6


class IdleProcessors:
    """How many processors did nothing for a while. Without /proc/stat nothing is known of that, and none did."""

    def __init__(self) -> None:
        self._began, self._idle = time.monotonic(), self._read()

    @staticmethod
    def _read() -> float:
        try:
            fields = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()
        except OSError:
            return 0.0
        # "cpu", then user, nice, system, idle: the sum over all processors, in ticks.
        return int(fields[4]) / os.sysconf("SC_CLK_TCK")

    def room(self) -> bool:
        """Return whether there was room for one more suite since the last look, if that was long enough ago to say."""
        seconds = time.monotonic() - self._began
        if seconds < LOOK_SECONDS:
            return False
        idle = (self._read() - self._idle) / seconds
        self.look_anew()
        return idle >= IDLE_PROCESSORS

    def look_anew(self) -> None:
        """Begin a new look, because a suite has begun or ended."""
        self._began, self._idle = time.monotonic(), self._read()


class Running:
    """A suite under way."""

    def __init__(self, suite: known.Suite) -> None:
        self.suite = suite
        self.log = LOGS / f"{suite.name}.log"
        self.junit = LOGS / f"{suite.name}.xml"
        self.junit.unlink(missing_ok=True)
        self.began = time.monotonic()
        self.too_long = False
        self.processor_seconds = 0.0
        command = list(suite.command)
        if suite.counts == "pytest":
            command.append(f"--junit-xml={self.junit}")
        with self.log.open("wb") as output:
            # A session of its own, so that a suite that hangs can be ended with everything that it started.
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=known.environment(suite),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def finished(self) -> bool:
        if self.process.returncode is None:
            number, status, used = os.wait4(self.process.pid, os.WNOHANG)
            if number:
                self.process.returncode = os.waitstatus_to_exitcode(status)
                self.processor_seconds = used.ru_utime + used.ru_stime
        if self.process.returncode is not None:
            return True
        if time.monotonic() - self.began > self.suite.limit:
            self.too_long = True
            self.stop()
            return True
        return False

    def stop(self) -> None:
        """End the suite and all that it has started, what outlives its first process, too."""
        with contextlib.suppress(ProcessLookupError):
            for number in (signal.SIGTERM, signal.SIGKILL):
                os.killpg(self.process.pid, number)
                patience = time.monotonic() + PATIENCE
                while time.monotonic() < patience:
                    self.process.poll()
                    os.killpg(self.process.pid, 0)
                    time.sleep(0.1)


class Result:
    def __init__(self, name: str, passed: int, failed: int, seconds: float, why: str = "", log: pathlib.Path | None = None, busy: float = 0) -> None:
        self.skipped = why.startswith(SKIPPED)
        self.name, self.passed, self.failed, self.seconds, self.why, self.log = name, passed, failed, seconds, why, log
        self.busy = busy

    def show(self) -> None:
        verdict = "FAILED" if self.failed else "skip" if self.skipped else "ok"
        times = f"{self.seconds:.0f} s, {self.busy:.0f} s of processor time"
        print(f"{verdict:6} {self.name}: {self.passed} good, {self.failed} bad, {times} {self.why}".rstrip(), flush=True)
        if self.failed and self.log and self.log.exists():
            lines = self.log.read_text(errors="replace").splitlines()
            for line in lines[-60:]:
                print(f"       | {line}")
            print(f"       whole log: {self.log.relative_to(ROOT)}", flush=True)

    def failed_tests(self) -> list[str]:
        """A line for each test that pytest says failed, however far above the end of the log."""
        if not self.failed or not self.log or not self.log.exists():
            return []
        return [line[:300] for line in self.log.read_text(errors="replace").splitlines() if FAILED_TEST.match(line)]


def read_junit(path: pathlib.Path) -> tuple[int, int, str]:
    """Passed, failed and why, of a pytest run. Skipped and expected failures count as failed: no test stands aside here."""
    if not path.exists():
        return 0, 1, "(no results were written)"
    tests = failed = skipped = 0
    for suite in xml.etree.ElementTree.parse(path).getroot().iter("testsuite"):
        tests += int(suite.get("tests", 0))
        failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped += int(suite.get("skipped", 0))
    if not tests:
        return 0, 1, "(no test was collected)"
    why = f"({skipped} skipped, which counts as failed)" if skipped else ""
    return tests - failed - skipped, failed + skipped, why


def read_closing_line(path: pathlib.Path) -> tuple[int, int, str]:
    """Passed, failed and why, of a program that ends with the line this program ends with."""
    lines = path.read_text(errors="replace").splitlines()
    found = CLOSING_LINE.match(lines[-1]) if lines else None
    if not found:
        return 0, 1, "(its last line is not 'N passed, N failed')"
    passed, failed = int(found[1]), int(found[2])
    return (passed, failed, "") if passed + failed else (0, 1, "(no test was run)")


def read_skipped(path: pathlib.Path) -> str:
    """The last line of a suite that says why it was not run, or an empty text."""
    lines = path.read_text(errors="replace").splitlines()
    return lines[-1] if lines and lines[-1].startswith(SKIPPED) else ""


def conclude(running: Running) -> Result:
    seconds = time.monotonic() - running.began
    suite, code = running.suite, running.process.returncode
    if running.too_long:
        return Result(suite.name, 0, 1, seconds, f"(stopped: over its limit of {suite.limit} s)", running.log)
    if suite.counts == "pytest":
        passed, failed, why = read_junit(running.junit)
    elif suite.counts == "closing line":
        passed, failed, why = read_closing_line(running.log)
    elif suite.may_skip and not code and read_skipped(running.log):
        passed, failed, why = 0, 0, read_skipped(running.log)
    else:
        passed, failed, why = (0, 1, f"(exit code {code})") if code else (1, 0, "")
    if code and not failed:
        failed, why = 1, f"(exit code {code})"
    return Result(suite.name, passed, failed, seconds, why, running.log, running.processor_seconds)


def run(wanted: list[known.Suite]) -> list[Result]:
    waiting, running, results = list(wanted), [], {}
    names = {suite.name for suite in wanted}
    processors = IdleProcessors()
    try:
        while waiting or running:
            for item in [item for item in running if item.finished()]:
                running.remove(item)
                results[item.suite.name] = conclude(item)
                results[item.suite.name].show()
            room = len(running) < MOST_SUITES and processors.room()
            for suite in list(waiting):
                needs = [need for need in suite.needs if need in names]
                broken = [need for need in needs if need in results and results[need].failed]
                skipped = [need for need in needs if need in results and results[need].skipped]
                early = [name for name in suite.after if name in names and name not in results]
                if skipped:
                    waiting.remove(suite)
                    results[suite.name] = Result(suite.name, 0, 0, 0, results[skipped[0]].why)
                    results[suite.name].show()
                elif broken:
                    waiting.remove(suite)
                    results[suite.name] = Result(suite.name, 0, 1, 0, f"(not run: {', '.join(broken)} failed)")
                    results[suite.name].show()
                elif (room or sum(item.suite.load for item in running) + suite.load <= PROCESSORS) and not early and all(need in results for need in needs):
                    waiting.remove(suite)
                    running.append(Running(suite))
                    room = False
                    processors.look_anew()
            time.sleep(0.1)
    finally:
        for item in running:
            item.stop()
    return list(results.values())


def end(number: int, _frame: object) -> None:
    """End. A second signal does not break off the end of what is under way."""
    for later in ENDS:
        signal.signal(later, signal.SIG_IGN)
    sys.exit(f"stopped by {signal.Signals(number).name}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plus", metavar="N,N", default="0,0", help="passed and failed of an earlier run, to be counted with these")
    parser.add_argument("group", help="test, heavy, lint, or the names of suites with commas between them")
    arguments = parser.parse_args()
    for number in ENDS:
        signal.signal(number, end)
    LOGS.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    results = run(known.find(arguments.group))
    passed, failed = (int(number) for number in arguments.plus.split(","))
    passed += sum(result.passed for result in results)
    failed += sum(result.failed for result in results)
    if not results:
        print("No suite was found: that is a failure.")
        failed += 1
    print(f"{len(results)} suites in {time.monotonic() - began:.0f} s")
    for result in results:
        if result.failed:
            print(f"failed: {result.name} {result.why}".rstrip())
            for line in result.failed_tests()[:20]:
                print(f"    {line}")
    for result in results:
        if result.skipped:
            print(f"not run: {result.name}, {result.why}")
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
