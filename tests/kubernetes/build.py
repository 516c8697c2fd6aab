# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Build a Kubernetes control plane from the Go module proxy into .build/kubernetes, once: minutes the first time, nothing after it.

Exit code 0 with the programs, or with the word "skipped" where there is no Go that can build them; 1 for a build that failed.
"""

from __future__ import annotations

import fcntl
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import typing as t

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / ".build" / "kubernetes"
PROGRAMS = FOLDER / "bin"
STAGES = FOLDER / "stage"
SERVERS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
ETCD_MAIN = 'package main\n\nimport (\n\t"os"\n\n\t"go.etcd.io/etcd/server/v3/etcdmain"\n)\n\nfunc main() { etcdmain.Main(os.Args) }\n'
# A staging module, which the go.mod of Kubernetes replaces with a folder that no module proxy has.
STAGING = re.compile(r"^\s*(k8s\.io/\S+)(?: v0\.0\.0$| => \./staging/)", re.MULTILINE)


def versions() -> dict[str, str]:
    return dict(re.findall(r"^([A-Z]+)=(\S+)$", (HERE / "versions.env").read_text(), re.MULTILINE))


def built() -> bool:
    """Return whether the programs of these very versions are there."""
    stamp = FOLDER / "stamp.json"
    return stamp.is_file() and json.loads(stamp.read_text()) == versions()


def find_go() -> str:
    return shutil.which("go") or shutil.which("/usr/local/go/bin/go") or ""


def missing() -> str:
    """Return why nothing can be built here, or an empty text. A newer Go that would be downloaded first counts as missing."""
    go, wanted = find_go(), versions()["GO"]
    if not go:
        return f"there is no Go; {wanted} or newer is needed"
    answer = subprocess.run([go, "version"], capture_output=True, text=True, check=False, env={**os.environ, "GOTOOLCHAIN": "local"}).stdout
    found = re.search(r"\bgo(\d+)\.(\d+)", answer)
    if not found or (int(found[1]), int(found[2])) < tuple(int(part) for part in wanted.split(".")):
        return f"{go} is {answer.strip() or 'no Go'}; {wanted} or newer is needed"
    return ""


class Go:
    """Go with caches of its own below the build folder, so that nothing stays elsewhere."""

    def __init__(self) -> None:
        self._go = find_go()
        caches = {"GOCACHE": str(FOLDER / "cache"), "GOMODCACHE": str(FOLDER / "modules"), "GOBIN": str(PROGRAMS)}
        # Modules are written so that `make clean` can remove them.
        self._surroundings = {**os.environ, **caches, "GOTOOLCHAIN": "local", "GOFLAGS": "-modcacherw -buildvcs=false", "CGO_ENABLED": "0"}

    def run(self, *arguments: str, cwd: pathlib.Path = FOLDER) -> str:
        ran = subprocess.run([self._go, *arguments], cwd=cwd, env=self._surroundings, stdout=subprocess.PIPE, text=True, check=False)
        if ran.returncode:
            raise SystemExit(f"go {' '.join(arguments)} failed with exit code {ran.returncode}.")
        return ran.stdout

    def module(self, name: str) -> dict[str, t.Any]:
        return dict(json.loads(self.run("mod", "download", "-json", name)))

    def build(self, folder: str, mod: str, packages: t.Sequence[str], flags: str = "-s -w") -> None:
        home = FOLDER / "source" / folder
        home.mkdir(parents=True, exist_ok=True)
        (home / "go.mod").write_text(f"module lab/{folder}\n\ngo {versions()['GO']}\n\n{mod}")
        began = time.monotonic()
        for package in packages:
            self.run("build", "-mod=mod", "-trimpath", "-ldflags", flags, "-o", str(PROGRAMS) + "/", package, cwd=home)
        print(f"{folder}: {time.monotonic() - began:.0f} s", flush=True)


def build_servers(go: Go, version: str) -> None:
    text = pathlib.Path(go.module(f"k8s.io/kubernetes@v{version}")["GoMod"]).read_text()
    staging = "v0." + version.split(".", 1)[1]
    defaults = "\n".join(re.findall(r"^godebug .*", text, re.MULTILINE))
    replaced = "".join(f"\t{name} => {name} {staging}\n" for name in sorted(set(STAGING.findall(text))))
    mod = f"{defaults}\n\nrequire k8s.io/kubernetes v{version}\n\nreplace (\n{replaced})\n"
    name = "k8s.io/component-base/version.git"
    major, minor = version.split(".")[:2]
    flags = f"-s -w -X {name}Version=v{version} -X {name}Major={major} -X {name}Minor={minor}"
    go.build("servers", mod, [f"k8s.io/kubernetes/cmd/{name}" for name in SERVERS], flags)


def build_etcd(go: Go, version: str) -> None:
    home = FOLDER / "source" / "etcd"
    home.mkdir(parents=True, exist_ok=True)
    (home / "main.go").write_text(ETCD_MAIN)
    go.build("etcd", f"require go.etcd.io/etcd/server/v3 v{version}\n", ["."])


def build_kwok(go: Go, version: str) -> None:
    module = go.module(f"sigs.k8s.io/kwok@v{version}")
    shutil.copytree(pathlib.Path(module["Dir"]) / "kustomize" / "stage", STAGES, dirs_exist_ok=True)
    began = time.monotonic()
    go.run("install", "-trimpath", "-ldflags", "-s -w", f"sigs.k8s.io/kwok/cmd/kwok@v{version}")
    print(f"kwok: {time.monotonic() - began:.0f} s", flush=True)


def build() -> None:
    wanted, go = versions(), Go()
    (FOLDER / "stamp.json").unlink(missing_ok=True)
    for name in ("bin", "stage", "source"):
        shutil.rmtree(FOLDER / name, ignore_errors=True)
    PROGRAMS.mkdir()
    build_etcd(go, wanted["ETCD"])
    build_kwok(go, wanted["KWOK"])
    build_servers(go, wanted["KUBERNETES"])
    (FOLDER / "stamp.json").write_text(json.dumps(wanted))
    # Gigabytes. A build that was broken off keeps them, and goes on where it was.
    for name in ("cache", "modules", "source"):
        shutil.rmtree(FOLDER / name, ignore_errors=True)


def main() -> int:
    why = missing()
    if not built() and why:
        print(f"skipped: {why}")
        return 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        # Two may ask at a time; the second waits.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built():
            os.nice(19)
            build()
    print(f"{PROGRAMS}: {', '.join(f'{name.lower()} {version}' for name, version in versions().items() if name != 'GO')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
