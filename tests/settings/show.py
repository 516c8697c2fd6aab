# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Print the matrix: python tests/settings/show.py [WORD ...] prints setting x playbook x outcome, of settings whose name has one of the words."""

from __future__ import annotations

import collections
import itertools
import sys
import textwrap
import typing as t

import rows

WIDTH = 160


def main(words: t.Sequence[str]) -> None:
    matrix = [row for row in rows.load() if not words or any(word.lower() in row.name.lower() for word in words)]
    for kind in rows.KINDS:
        mine = [row for row in matrix if row.kind == kind]
        tried = [row for row in mine if row.outcome in rows.TRIED]
        print(f"\n{kind.upper()}: {len({row.name for row in mine})} settings, {len({row.name for row in tried})} of them tried\n")
        if tried:
            _table(tried)
        _untried([row for row in mine if row not in tried])
    counted = collections.Counter(row.on(playbook).outcome for row in matrix for playbook in rows.PLAYBOOKS)
    print(f"\n{len(matrix)} rows x {len(rows.PLAYBOOKS)} playbooks: " + ", ".join(f"{counted[outcome]} {outcome}" for outcome in rows.OUTCOMES) + ".")


def _table(tried: t.Sequence[rows.Row]) -> None:
    lines = [("setting", "value", "at", *rows.PLAYBOOKS, rows.OWN)]
    for row in tried:
        value = "" if row.value is None else str(row.value)
        lines.append((row.name, textwrap.shorten(value, 40), ", ".join(row.at), *map(_cell, _on_each(row))))
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def _on_each(row: rows.Row) -> t.Iterator[rows.Row | None]:
    """The row on each playbook, and in users' own plays where that differs."""
    yield from (row.on(playbook) for playbook in rows.PLAYBOOKS)
    yield row.on("", own=True) if rows.OWN in row.other else None


def _cell(row: rows.Row | None) -> str:
    if row is None:
        return ""
    return row.outcome + (f" ({row.code})" if row.code is not None else "") + (f" [{row.cores}]" if row.cores else "")


def _untried(untried: t.Sequence[rows.Row]) -> None:
    for why, group in itertools.groupby(sorted(untried, key=lambda row: row.why), lambda row: row.why):
        print(f"\ncannot matter, for all playbooks: {why}")
        names = " ".join(row.name + (f" [{row.cores}]" if row.cores else "") for row in group)
        print(textwrap.fill(names, WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False))


if __name__ == "__main__":
    main(sys.argv[1:])
