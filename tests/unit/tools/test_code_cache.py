# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What runs with the cache must be what runs without it."""

from __future__ import annotations

import marshal
import os
import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tools" / "code_cache"
LATER = "from __future__ import annotations"
SHOW = "d = {{}}; exec(compile(SOURCE + 'x: int', 'f', 'exec'{}), d); print(d['__annotations__'])"
LONG = "# " + "x" * 600 + "\n"


def run(program: str, cache: pathlib.Path) -> str:
    environment = dict(os.environ, PYTHONPATH=str(FOLDER), CODE_CACHE_FOLDER=str(cache))
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def twice(program: str, cache: pathlib.Path) -> str:
    first, second = run(program, cache), run(program, cache)
    assert first == second
    return second


def test_what_was_compiled_before_is_loaded_and_says_where_its_source_lies_now(tmp_path: pathlib.Path) -> None:
    program = f"code = compile({LONG + 'def f(): return 42'!r}, FILE, 'exec', dont_inherit=True); exec(code); print(f(), f.__code__.co_filename)"
    assert run(program.replace("FILE", "'one'"), tmp_path) == "42 one\n"
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert kept
    assert run(program.replace("FILE", "'other'"), tmp_path) == "42 other\n"
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == kept


def test_it_is_the_kept_code_that_runs(tmp_path: pathlib.Path) -> None:
    """Else the cache saves nothing and this file proves nothing."""
    program = f"exec(compile({LONG + 'print(1)'!r}, 'file', 'exec', dont_inherit=True))"
    assert run(program, tmp_path) == "1\n"
    other = compile("print(2)", "file", "exec")
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(marshal.dumps(other))
    assert run(program, tmp_path) == "2\n"


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("import ast; print(type(compile(SOURCE, 'file', 'exec', ast.PyCF_ONLY_AST, True)).__name__)", "Module"),
        ("print(eval(compile('(' + SOURCE + '\\n1)', 'file', 'eval')))", "1"),
        # The caller's own __future__ imports hold for what it compiles, unless it says otherwise.
        (f"{LATER}; {SHOW.format('')}", "{'x': 'int'}"),
        (f"{LATER}; {SHOW.format(', 0, True')}", "{'x': <class 'int'>}"),
        (SHOW.format(""), "{'x': <class 'int'>}"),
        ("\ntry: compile(SOURCE + 'x = (', 'file', 'exec')\nexcept SyntaxError as error: print(error.lineno)", "2"),
    ],
)
def test_everything_else_is_as_it_was(program: str, said: str, tmp_path: pathlib.Path) -> None:
    assert twice(program.replace("SOURCE", repr(LONG)), tmp_path).strip() == said


def test_a_process_that_may_not_write_there_compiles_as_ever(tmp_path: pathlib.Path) -> None:
    """As a service in a sandbox of its own: for it the folder is missing, or read-only."""
    program = f"import code_cache; code_cache.use({str(tmp_path / 'missing')!r}); exec(compile({LONG + 'print(1)'!r}, 'file', 'exec', dont_inherit=True))"
    done = subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": str(FOLDER)}, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("1\n", "")
