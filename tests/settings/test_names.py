# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The rows name the settings of ansible-core, no more and no less."""

from __future__ import annotations

import listed
import rows


def test_every_setting_of_this_core_has_its_row_and_every_row_its_setting() -> None:
    assert listed.differences() == []


def test_a_row_for_some_cores_is_for_no_others() -> None:
    def known(cores: str) -> list[int]:
        row = rows.Row("keyword", "x", None, "cannot matter", why="-", cores=cores)
        return [minor for minor in (18, 19, 20, 21) if row.known_to((2, minor))]

    assert [known(cores) for cores in ("", "2.18", "2.19-", "-2.19", "2.21")] == [[18, 19, 20, 21], [18], [19, 20, 21], [18, 19], [21]]
