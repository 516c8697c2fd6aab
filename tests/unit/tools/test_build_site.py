# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the site has beside Sphinx's own pages (tests/tools/build_site.py): the samples of the report, and no link to what is not there."""

from __future__ import annotations

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tests" / "tools"))

import build_site  # noqa: E402  the folder of tools is no package


def test_the_page_of_samples_leads_to_what_is_written(tmp_path: pathlib.Path) -> None:
    (tmp_path / "samples.html").write_text(build_site.samples_page())
    assert build_site.dead_links(tmp_path) == [f"samples.html: samples/{name}.html is not there" for name in ("month", "storm")]
    build_site.write_samples(tmp_path / "samples")
    assert build_site.dead_links(tmp_path) == []
    sizes = {path.stem: path.stat().st_size for path in (tmp_path / "samples").iterdir()}
    assert 10_000 < sizes["storm"] < 100_000 < sizes["month"] < 5_000_000
    storm = (tmp_path / "samples" / "storm.html").read_text()
    assert storm.count('class="lane"') >= 4 and "Connection timed out" in storm


def test_a_dead_link_of_a_page_is_named(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a b.svg").write_text("")
    page = tmp_path / "docs" / "page.html"
    page.parent.mkdir()
    good = '<a href=\'page.html#here\'><a href="https://example.com/x"><a href="mailto:a@b"><img src=\'../a%20b.svg?v=1\'><a href="#top">'
    page.write_text(f'{good}<a class="x" href="gone.html#part"><script src="../gone.js"></script>')
    assert build_site.dead_links(tmp_path) == ["docs/page.html: ../gone.js is not there", "docs/page.html: gone.html is not there"]
