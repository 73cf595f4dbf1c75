"""Pictures of screens: the text of `tmux capture-pane -e` as SVG."""

from __future__ import annotations

import re
from html import escape
from unicodedata import east_asian_width

# Columns and rows of a cell, in pixels.
CELL = (9, 19)
INK, GROUND = "#d8d8d8", "#101010"
NAMED = [
    "#1c1c1c", "#c23b4b", "#4fa36b", "#c9a227", "#4a7fc1", "#9a6bb5", "#3fa3a8", "#d0d0d0",
    "#6b6b6b", "#ff7389", "#62d9a0", "#ffd072", "#7fb0f0", "#c79bff", "#6fe3ff", "#ffffff",
]


def indexed(number: int) -> str:
    """Colour of xterm's table."""
    if number < 16:
        return NAMED[number]
    if number >= 232:
        level = 8 + 10 * (number - 232)
        return f"#{level:02x}{level:02x}{level:02x}"
    steps = [0, 95, 135, 175, 215, 255]
    number -= 16
    return "#" + "".join(f"{steps[part]:02x}" for part in (number // 36, number // 6 % 6, number % 6))


def colour(codes: list[int]) -> str:
    """Colour of the codes after 38 or 48; takes them off the list."""
    if codes and codes.pop(0) == 5:
        return indexed(codes.pop(0))
    red, green, blue = codes[:3]
    del codes[:3]
    return f"#{red:02x}{green:02x}{blue:02x}"


def styled(style: dict, codes: list[int]) -> dict:
    """A style after a sequence of codes."""
    style = dict(style)
    codes = codes or [0]
    while codes:
        code = codes.pop(0)
        if code == 0:
            style = {}
        elif code in (1, 2, 4, 7):
            style[code] = True
        elif code in (22, 24, 27):
            for name in {22: (1, 2), 24: (4,), 27: (7,)}[code]:
                style.pop(name, None)
        elif code in (38, 48):
            style["ink" if code == 38 else "ground"] = colour(codes)
        elif code in (39, 49):
            style.pop("ink" if code == 39 else "ground", None)
        elif 30 <= code <= 37 or 90 <= code <= 97:
            style["ink"] = NAMED[code - 30 if code < 90 else code - 82]
        elif 40 <= code <= 47 or 100 <= code <= 107:
            style["ground"] = NAMED[code - 40 if code < 100 else code - 92]
    return style


def cells(shown: str) -> list[list[tuple[str, dict]]]:
    """Characters with their styles, by rows. A style goes on over the end of a row."""
    rows, style = [], {}
    for line in shown.split("\n"):
        row: list[tuple[str, dict]] = []
        for part in re.split(r"(\x1b\[[0-9;:]*m)", line):
            if part.startswith("\x1b["):
                style = styled(style, [int(code or 0) for code in re.split("[;:]", part[2:-1])])
            else:
                for sign in part:
                    if sign >= " ":
                        row.append((sign, style))
                        if east_asian_width(sign) in "WF":
                            row.append(("", style))
        rows.append(row)
    return rows


def svg(shown: str, size: tuple[int, int]) -> str:
    """A picture of a screen of so many columns and rows."""
    width, height = size[0] * CELL[0], size[1] * CELL[1]
    grounds, texts = [], []
    for y, row in enumerate(cells(shown)[: size[1]]):
        for x, (sign, style) in enumerate(row[: size[0]]):
            ink, ground = style.get("ink", INK), style.get("ground", GROUND)
            if style.get(7):
                ink, ground = ground, ink
            left, top = x * CELL[0], y * CELL[1]
            if ground != GROUND:
                grounds.append(f'<rect x="{left}" y="{top}" width="{CELL[0] + .5}" height="{CELL[1] + .5}" fill="{ground}"/>')
            if sign.strip():
                weight = ' font-weight="bold"' if style.get(1) else ""
                line = ' text-decoration="underline"' if style.get(4) else ""
                faint = ' opacity=".6"' if style.get(2) else ""
                texts.append(f'<text x="{left}" y="{top + 14.5}" fill="{ink}"{weight}{line}{faint}>{escape(sign)}</text>')
    body = "\n".join(grounds + texts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'font-family="DejaVu Sans Mono, monospace" font-size="15">\n'
        f'<rect width="{width}" height="{height}" fill="{GROUND}"/>\n{body}\n</svg>\n'
    )
