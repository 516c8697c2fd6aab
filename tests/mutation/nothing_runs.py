# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Skip the mutants that say nothing about the tests: no Python, a difference in a type hint only, the alphabetical order of words.

A type hint never runs (C(from __future__ import annotations)), so no test could find it changed. A mutant that is no Python (C(def
f(a, /, b)) for C(def f(a, *, b))) would count as killed by any test. And whether C(phase < "held") for C(phase == "held") is noticed hangs on
the names of the other phases, which come in no order here; that C(!=) in its place is noticed says all.
"""

from __future__ import annotations

import ast


class _WithoutHints(ast.NodeTransformer):
    """Take the type hints out of a tree."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)


def what_runs(source: str) -> str | None:
    """Return a text of the program without its type hints, or None where the source is no Python."""
    try:
        compile(source, "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return None
    return ast.dump(_WithoutHints().visit(ast.parse(source)))


def why_skipped(source: str, mutant: str) -> str | None:
    """Return why a mutant of the source says nothing about the tests, or None."""
    mutated = what_runs(mutant)
    if mutated is None:
        return "no Python"
    if mutated == what_runs(source):
        return "the same program"
    return "the order of words" if _ordered_words(mutant) > _ordered_words(source) else None


def _ordered_words(source: str) -> int:
    """Return how many comparisons ask which of two texts comes first, where one of them is a literal."""
    return sum(
        isinstance(node, ast.Compare) and any(isinstance(one, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for one in node.ops) and any(map(_is_text, _sides(node)))
        for node in ast.walk(ast.parse(source))
    )


def _sides(node: ast.Compare) -> list[ast.expr]:
    return [node.left, *node.comparators]


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
