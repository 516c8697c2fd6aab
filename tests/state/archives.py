# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Print the folder with the archives of a product's packages, which are downloaded once: "archives.py PRODUCT".

What its file of requirements names, if there is one, is unpacked once to .build/state/PRODUCT/python: programs that Debian does not have.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from lab.debian_packages import CACHES, downloaded  # noqa: E402  the folder of tests is no package


def main() -> None:
    product = sys.argv[1]
    requirements, unpacked = HERE / product / "requirements", CACHES / "state" / product / "python"
    if requirements.exists() and not unpacked.exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check", "-r", str(requirements), "--target"]
        subprocess.run([*command, f"{unpacked}.new"], check=True, stdout=sys.stderr)
        pathlib.Path(f"{unpacked}.new").rename(unpacked)
    print(downloaded(f"state/{product}", (HERE / product / "packages").read_text().split()))


if __name__ == "__main__":
    main()
