# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Debian's packages, unpacked into a folder and never installed: no service of the machine is started, and nothing of it is changed."""

from __future__ import annotations

import fcntl
import os
import pathlib
import shutil
import subprocess
import typing as t

CACHES = pathlib.Path(__file__).resolve().parents[2] / ".build"


def unpacked(
    cache: str,
    packages: t.Sequence[str],
    needed: t.Sequence[str] = ("",),
    without: t.Sequence[str] = (),
    finish: t.Callable[[pathlib.Path], None] | None = None,
) -> pathlib.Path:
    """The folder with these packages and what they depend on; filled once, whoever asks first.

    needed: how the names of the archives begin that are taken. without: patterns of files that are left out. finish: what is to be done once
    to the folder.
    """
    place = CACHES / cache
    place.mkdir(parents=True, exist_ok=True)
    root = place / "root"
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / ".complete").exists():
            shutil.rmtree(root, ignore_errors=True)
            root.mkdir()
            for archive in _download(place / "archives", packages, needed):
                _unpack(archive, root, without)
            if finish:
                finish(root)
            shutil.rmtree(place / "archives")
            (place / ".complete").touch()
    return root


def downloaded(cache: str, packages: t.Sequence[str]) -> pathlib.Path:
    """The folder with the archives of these packages and of what they depend on that this machine lacks; filled once for these names."""
    place = CACHES / cache
    place.mkdir(parents=True, exist_ok=True)
    wanted = "\n".join(packages)
    with (place / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        complete = place / ".complete"
        if not complete.exists() or complete.read_text() != wanted:
            shutil.rmtree(place / "archives", ignore_errors=True)
            _download(place / "archives", packages, ("",))
            complete.write_text(wanted)
    return place / "archives"


def _download(archives: pathlib.Path, packages: t.Sequence[str], needed: t.Sequence[str]) -> list[pathlib.Path]:
    (archives / "partial").mkdir(parents=True, exist_ok=True)
    options = ["-o", f"Dir::Cache::archives={archives}", "-o", "Debug::NoLocking=true", "-o", "APT::Sandbox::User=root"]
    fetch = ["apt-get", *options, "install", "--yes", "--quiet", "--download-only", "--reinstall", "--no-install-recommends", *packages]
    done = subprocess.run(fetch, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0 and os.geteuid() == 0:
        # Other suites update at the same time, with the same lock (tests/guests/run.sh).
        with (CACHES / "apt.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            subprocess.run(["apt-get", "update", "--quiet"], capture_output=True, timeout=300, check=False)
        done = subprocess.run(fetch, capture_output=True, text=True, timeout=300, check=False)
    found = {name: sorted(archives.glob(f"{name}*.deb")) for name in needed}
    if done.returncode != 0 or not all(found.values()):
        what = " and ".join(packages)
        raise AssertionError(f"Debian's package {what} is needed, and apt-get cannot download it:\n{(done.stdout + done.stderr)[-2000:]}")
    return [archive for group in found.values() for archive in group]


def _unpack(archive: pathlib.Path, root: pathlib.Path, without: t.Sequence[str]) -> None:
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(archive)], stdout=subprocess.PIPE) as content:
        left_out = [f"--exclude={pattern}" for pattern in without]
        subprocess.run(["tar", "-x", "-C", str(root), *left_out], stdin=content.stdout, check=True, timeout=120)
    if content.returncode != 0:
        raise AssertionError(f"dpkg-deb cannot read {archive.name}: it ended with {content.returncode}")
