# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run every measurement in tests/benchmark, one after the other, with nothing else at work."""

from __future__ import annotations

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main() -> int:
    failed = []
    for path in sorted((ROOT / "tests" / "benchmark").glob("*.py")):
        print(f"== {path.relative_to(ROOT)}", flush=True)
        if subprocess.run([sys.executable, str(path)], cwd=ROOT, check=False).returncode:
            failed.append(path.name)
    if failed:
        print(f"did not work: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
