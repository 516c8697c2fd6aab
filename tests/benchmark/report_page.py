# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The page of a report: its size, the time to make it, and the time in which headless Chromium opens and draws it, beside an empty page. Needs Chromium."""

from __future__ import annotations

import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from ansible_collections.maintenance.azure.plugins.plugin_utils._report.page import page
from ansible_collections.maintenance.azure.plugins.plugin_utils._report.report import make, window
from ansible_collections.maintenance.azure.tests.unit.plugins.plugin_utils._report.entries import NOW, month

SIZES = (1, 50, 500)
ROUNDS = 3


def opened(chromium: str, path: pathlib.Path) -> float:
    """Return the seconds from Chromium's start to its picture of the page."""
    with tempfile.TemporaryDirectory() as folder:
        picture = pathlib.Path(folder) / "page.png"
        command = (chromium, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile", f"--screenshot={picture}")
        began = time.monotonic()
        subprocess.run([*command, "--window-size=1280,2000", path.as_uri()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=120)
        seconds = time.monotonic() - began
        if not picture.stat().st_size:
            raise SystemExit(f"Chromium drew nothing of {path.name}")
    return seconds


def main() -> int:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        print("Chromium is not installed, and nothing was measured. Next: apt-get install chromium")
        return 1
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "empty.html").write_text("<!DOCTYPE html><html lang='en'><title>Empty</title></html>")
        empty = statistics.median(opened(chromium, folder / "empty.html") for _round in range(ROUNDS))
        print(f"A month's report; opened by Chromium, median of {ROUNDS}; an empty page takes {empty:.1f} s")
        print(f"{'VMs':>6}{'events':>10}{'MB':>10}{'made in s':>12}{'opened in s':>14}")
        for vms in SIZES:
            began = time.monotonic()
            report = make(month(vms, together=min(4, vms)), window(None, None, "2026-03", NOW), NOW)
            whole = page(report)
            made = time.monotonic() - began
            path = folder / f"{vms}.html"
            path.write_text(whole)
            seconds = statistics.median(opened(chromium, path) for _round in range(ROUNDS))
            print(f"{vms:>6}{len(report['events']):>10}{len(whole.encode()) / 1e6:>10.2f}{made:>12.1f}{seconds:>14.1f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
