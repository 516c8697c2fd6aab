# Copyright (c) 2026, The maintenance.azure authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pictures show the components that there are, are drawn from their sources, and can be read on a phone."""

from __future__ import annotations

import configparser
import hashlib
import pathlib
import re
import xml.etree.ElementTree as ET

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PICTURES = ROOT / "docs" / "pictures"
ARCHITECTURE = PICTURES / "architecture.dot"
SOURCES = sorted(PICTURES.glob("*.dot"))
COMPONENT = re.compile(r'<TD HREF="([^"]+)" ALIGN="LEFT"><B>([a-z_/]+)</B></TD><TD ALIGN="LEFT">([^<]+)</TD>')
SVG = "{http://www.w3.org/2000/svg}"
# A phone is about 400 px wide, and smaller text than 12 px cannot be read there.
NARROW, SMALLEST = 400, 12
each_picture = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)


def components() -> dict[pathlib.Path, str]:
    """Return the folders that the picture names, each with the name that it shows."""
    return {(PICTURES / target).resolve(): name for target, name, _words in COMPONENT.findall(ARCHITECTURE.read_text())}


def layers(contract: str) -> set[pathlib.Path]:
    """Return the folders of one contract of import-linter."""
    parser = configparser.ConfigParser()
    parser.read(ROOT / ".importlinter")
    section = parser[f"importlinter:contract:{contract}"]
    container = ROOT.joinpath(*section["containers"].strip().split(".")[3:])
    found = {container / name.strip() for name in re.split(r"[\n|]", section["layers"]) if name.strip()}
    return {path for path in found if path.is_dir()}


def test_every_room_of_the_picture_is_a_folder() -> None:
    found = components()
    assert len(found) == ARCHITECTURE.read_text().count("HREF=") > 15
    for path, name in found.items():
        assert path.is_dir(), f"{name} is shown, and {path.relative_to(ROOT)} is no folder"
        assert str(path.relative_to(ROOT)).endswith(name), f"{name} is shown for {path.relative_to(ROOT)}"


def test_every_room_with_a_layer_is_in_the_picture() -> None:
    for contract in ("vm", "planner"):
        wanted = layers(contract)
        assert len(wanted) >= 8
        assert wanted <= set(components()), f"not shown: {sorted(path.name for path in wanted - set(components()))}"


@each_picture
def test_a_picture_is_drawn_from_its_source(source: pathlib.Path) -> None:
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    drawn = source.with_suffix(".svg").read_text()
    assert re.findall(r"^Made by make pictures from (\S+), sha256 (\S+)$", drawn, re.MULTILINE) == [(source.name, digest)], "run make pictures"


def test_no_picture_is_without_a_source() -> None:
    assert SOURCES
    assert [path.stem for path in sorted(PICTURES.glob("*.svg"))] == [path.stem for path in SOURCES]


@each_picture
def test_a_picture_says_what_its_source_says(source: pathlib.Path) -> None:
    """The digest alone could be written by hand."""
    drawn = ET.parse(source.with_suffix(".svg"))
    shown = " ".join(text.text or "" for text in drawn.iter(f"{SVG}text"))
    for _target, name, words in COMPONENT.findall(source.read_text()):
        assert name in shown and words in shown


@each_picture
def test_a_picture_can_be_read_on_a_telephone(source: pathlib.Path) -> None:
    root = ET.parse(source.with_suffix(".svg")).getroot()
    width = float(root.attrib["viewBox"].split()[2])
    sizes = [float(text.attrib["font-size"]) for text in root.iter(f"{SVG}text")]
    assert len(sizes) > 20
    assert min(sizes) * NARROW / width >= SMALLEST
    # A page may be dark, and the text is dark.
    background = next(root.iter(f"{SVG}polygon"))
    assert background.attrib["fill"] == "white"


@pytest.mark.parametrize(("page", "target"), [
    ("docs/architecture.md", "pictures/architecture.svg"),
    # Absolute, because Galaxy shows the README away from its repository.
    ("README.md", "https://github.com/maintenance-azure/maintenance.azure/raw/main/docs/pictures/one-event.svg"),
])  # fmt: skip
def test_the_page_shows_the_picture(page: str, target: str) -> None:
    found = re.findall(rf"!\[([^\]]+)\]\({re.escape(target)}\)", (ROOT / page).read_text())
    assert len(found) == 1 and len(found[0]) > 40, "one picture, with words for those who cannot see it"
    assert (PICTURES / target.rpartition("/")[2]).is_file()
