# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A module in a warm process must do what it does in one that was started for it (tests/tools/warm)."""

from __future__ import annotations

import base64
import io
import os
import pathlib
import signal
import subprocess
import sys
import time
import typing as t
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))

from lab import warm  # noqa: E402  the folder of tests is no package

# As ansible-core's wrapper does it: the payload into a file, the file in front of sys.path, the module as __main__.
WRAPPER = """
import base64, os, runpy, sys
def main(zip_data):
    folder = os.path.join(os.path.dirname(__file__), "unpacked")
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/payload.zip", "wb") as file:
        file.write(base64.b64decode(zip_data))
    sys.path.insert(0, folder + "/payload.zip")
    runpy.run_module("ansible.modules.probe", run_name="__main__", alter_sys=True)
main(zip_data={data!r})
"""
CLIENT = "ansible_collections/maintenance/azure/plugins/module_utils/_scheduled_events/core/clock.py"
SHOW = """from ansible_collections.maintenance.azure.plugins.module_utils._scheduled_events.core import clock
print(clock.__file__, vars(clock).get('CHANGED'))
"""


def tree(path: str) -> str:
    """What ansible-core packs: a file of the collection."""
    return (ROOT / ".build" / "tree" / path).read_text()


def module_file(folder: pathlib.Path, code: str, **changed: str) -> str:
    """A module file whose module is this code, with one file of the collection, as it is or with a line more."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for package in ("ansible", "ansible/modules", *parents(CLIENT)):
            archive.writestr(f"{package}/__init__.py", "")
        archive.writestr("ansible/modules/probe.py", code)
        archive.writestr(CLIENT, tree(CLIENT) + changed.get("more", ""))
    path = folder / "AnsiballZ_probe.py"
    path.write_text(WRAPPER.format(data=base64.b64encode(packed.getvalue()).decode()))
    return str(path)


def parents(path: str) -> list[str]:
    words = path.split("/")[:-1]
    return ["/".join(words[:number]) for number in range(1, len(words) + 1)]


def run(python: str, *arguments: str, **options: t.Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([python, *arguments], capture_output=True, text=True, timeout=60, check=False, **options)


def is_warm(pid: int) -> bool:
    return b"server.py" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()


WAY = "import pathlib\nprint('server.py' in pathlib.Path('/proc/self/cmdline').read_text())\n"


def test_a_module_runs_warm_from_its_own_payload(tmp_path: pathlib.Path) -> None:
    done = run(warm.python(), module_file(tmp_path, WAY + SHOW))
    assert done.stderr == ""
    warmly, where, changed = done.stdout.split()
    assert (warmly, changed) == ("True", "None")
    assert where.startswith(str(tmp_path)) and where.endswith(f"payload.zip/{CLIENT}")


def test_a_payload_with_another_version_of_a_file_runs_that_in_a_python_started_for_it(tmp_path: pathlib.Path) -> None:
    done = run(warm.python(), module_file(tmp_path, WAY + SHOW, more="\nCHANGED = 'yes'\n"))
    assert done.stderr == ""
    warmly, where, changed = done.stdout.split()
    assert (warmly, changed) == ("False", "yes")
    assert where.startswith(str(tmp_path))


def test_what_is_not_in_the_payload_cannot_be_imported(tmp_path: pathlib.Path) -> None:
    done = run(warm.python(), module_file(tmp_path, WAY + "import ansible.module_utils.basic\n"))
    assert done.stdout == "True\n"
    assert "No module named 'ansible.module_utils'" in done.stderr
    assert done.returncode == 1


SURROUNDINGS = """
import os, sys
print(sorted(set(os.environ) - {"PWD", "OLDPWD", "SHLVL", "_"}))
print(os.getcwd(), os.environ.get("PROBE"), sys.argv, sys.executable, sys.stdin.read(), oct(os.umask(0)))
print("to stderr", file=sys.stderr)
sys.exit(7)
"""


def test_surroundings_and_end_are_those_of_a_python_started_for_it(tmp_path: pathlib.Path) -> None:
    program = module_file(tmp_path, SURROUNDINGS)
    environment = {**os.environ, "PROBE": "a = b\nc"}
    found = []
    for python in (sys.executable, warm.python()):
        done = run(python, program, cwd=tmp_path, env=environment, input="given", umask=0o027)
        found.append((done.returncode, done.stdout, done.stderr))
    assert found[0] == found[1]
    assert found[1][0] == 7 and found[1][2] == "to stderr\n" and "0o27" in found[1][1]


@pytest.mark.parametrize(("last", "code", "said"), [("sys.exit()", 0, ""), ("sys.exit('why')", 1, "why\n"), ("os.kill(os.getpid(), 9)", -9, "")])
def test_ends_are_passed_on(tmp_path: pathlib.Path, last: str, code: int, said: str) -> None:
    program = module_file(tmp_path, f"{WAY}import atexit, os, sys\natexit.register(print, 'over')\nsys.stdout.flush()\n{last}\n")
    done = run(warm.python(), program)
    assert (done.returncode, done.stderr) == (code, said)
    assert done.stdout == ("True\nover\n" if code >= 0 else "True\n")


def test_who_kills_the_python_kills_the_module(tmp_path: pathlib.Path) -> None:
    program = module_file(tmp_path, "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(60)\n")
    process = subprocess.Popen([warm.python(), program], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    module = int(process.stdout.readline())
    assert module != process.pid and is_warm(module)
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    limit = time.monotonic() + 10
    while pathlib.Path(f"/proc/{module}").exists() and time.monotonic() < limit:
        time.sleep(0.02)
    assert not pathlib.Path(f"/proc/{module}").exists()


def test_modules_at_the_same_time_do_not_disturb_each_other(tmp_path: pathlib.Path) -> None:
    code = WAY + "import sys, time\nword = sys.stdin.read()\ntime.sleep(len(word) / 10)\nprint(word)\nsys.exit(len(word))\n"
    processes = []
    for number in range(8):
        (tmp_path / str(number)).mkdir()
        program = module_file(tmp_path / str(number), code)
        processes.append(subprocess.Popen([warm.python(), program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
    for number, process in enumerate(processes):
        assert process.stdin
        process.stdin.write("x" * number)
        process.stdin.close()
    for number, process in enumerate(processes):
        assert process.stdout
        assert process.stdout.read() == f"True\n{'x' * number}\n"
        assert process.wait(10) == number


def test_another_start_up_is_no_warm_one(tmp_path: pathlib.Path) -> None:
    """Python reads some variables when it starts, and never again."""
    program = module_file(tmp_path, WAY)
    assert run(warm.python(), program, env={**os.environ, "PYTHONWARNINGS": "error"}).stdout == "False\n"
    assert run(warm.python(), program, "with arguments").stdout == "False\n"
    assert run(warm.python(), "-c", "print('as ever')").stdout == "as ever\n"


def test_sitecustomize_of_the_python_is_run_for_each_module(tmp_path: pathlib.Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import os\nseen = os.environ.get('PROBE')\n")
    program = module_file(tmp_path, WAY + "import sitecustomize\nprint(sitecustomize.seen)\n")
    for seen in ("one", "two"):
        assert run(warm.python(str(tmp_path)), program, env={**os.environ, "PROBE": seen}).stdout == f"True\n{seen}\n"


def test_a_module_on_standard_input_runs_warm_and_another_program_as_ever(tmp_path: pathlib.Path) -> None:
    """So Ansible sends modules with pipelining."""
    program = pathlib.Path(module_file(tmp_path, WAY + "import sys\nprint(sys.argv, repr(sys.stdin.read()))\n")).read_text()
    # Such a program has no file that it could ask for its folder.
    program = program.replace("__file__", repr(str(tmp_path / "none")))
    started, warmly = run(sys.executable, input=program), run(warm.python(), input=program)
    assert (warmly.stdout, warmly.stderr) == (started.stdout.replace("False", "True", 1), started.stderr)
    assert run(warm.python(), input=WAY).stdout == "False\n"


# --- ansible-playbook ----------------------------------------------------------------------------------------------------

PLAY = """
- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.debug:
        msg: "{{ lookup('ansible.builtin.env', 'PROBE') }} {{ lookup('ansible.builtin.config', 'ANSIBLE_HOME') }}"
    - ansible.builtin.debug: {msg: "{{ lookup('ansible.builtin.pipe', 'cat /proc/$PPID/cmdline') is search('warm/playbook.py') }}"}
    - ansible.builtin.fail: {msg: "{{ word }}"}
"""


def environment_of(folder: pathlib.Path, **more: str) -> dict[str, str]:
    path = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "ANSIBLE_HOME": str(folder / "home"), "ANSIBLE_LOCALHOST_WARNING": "0", "PROBE": "its own", **more}


def play(folder: pathlib.Path, environment: t.Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    (folder / "play.yml").write_text(PLAY)
    words = ["-i", "localhost,", "-c", "local", "-e", f"ansible_python_interpreter={warm.python()} word=why", "play.yml"]
    return run("ansible-playbook", *words, cwd=folder, env=environment)


def test_a_playbook_runs_warm_with_its_own_folders_arguments_and_end(tmp_path: pathlib.Path) -> None:
    # Its server reads other folders when it starts.
    warm.playbooks(environment_of(tmp_path / "before"))
    warmly, anew = (play(tmp_path, change(environment_of(tmp_path))) for change in (warm.playbooks, dict))
    assert warmly.returncode == anew.returncode == 2
    for done in (warmly, anew):
        assert f'"its own {tmp_path}/home"' in done.stdout and '"msg": "why"' in done.stdout, done.stdout + done.stderr
    assert ['"msg": true' in done.stdout for done in (warmly, anew)] == [True, False]
    assert list((tmp_path / "home" / "tmp").iterdir()) == [], "what was temporary is left"


@pytest.mark.parametrize("way", ["another environment", "a file of settings"])
def test_a_playbook_with_other_settings_is_started_for_it(tmp_path: pathlib.Path, way: str) -> None:
    environment = warm.playbooks(environment_of(tmp_path))
    if way == "another environment":
        environment["ANSIBLE_STDOUT_CALLBACK"] = "minimal"
    else:
        (tmp_path / "ansible.cfg").write_text("[defaults]\nstdout_callback = minimal\n")
    done = play(tmp_path, environment)
    assert "TASK" not in done.stdout and "its own" in done.stdout, done.stdout + done.stderr


def test_the_playbook_of_another_core_is_left_alone(tmp_path: pathlib.Path) -> None:
    (tmp_path / "ansible-playbook").write_text("#!/bin/sh\n")
    (tmp_path / "ansible-playbook").chmod(0o755)
    environment = environment_of(tmp_path)
    environment["PATH"] = f"{tmp_path}:{environment['PATH']}"
    assert warm.playbooks(environment) == environment


IMMORTAL = """
import gc, sys
sys.path.insert(0, {folder!r})
import immortal
class Kept: pass
kept, of_code = Kept(), (lambda: ("a part of", 12345.5)).__code__.co_consts
before = sys.getrefcount(None)
immortal.keep_all()
more = [kept] * 1000 + [of_code] * 1000 + [Kept] * 1000
print({{sys.getrefcount(one) == before for one in (kept, of_code, Kept, immortal.keep_all.__code__.co_consts)}})
new = Kept()
count = sys.getrefcount(new)
others = [new, new]
print(sys.getrefcount(new) - count, gc.collect() >= 0)
"""


def test_what_a_server_has_is_never_written_to_and_what_comes_later_is_counted() -> None:
    program = IMMORTAL.format(folder=str(warm.FOLDER))
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True).stdout
    # Python 3.11 counts all of them.
    assert said == f"{{{sys.version_info >= (3, 12)}}}\n2 True\n"
