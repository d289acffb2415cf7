"""A bar a contestant, on a logarithmic scale, as SVG."""

from __future__ import annotations

import math
from html import escape

_LEFT, _WIDTH, _ROW = 330, 420, 26


def plot(title: str, seconds: dict[str, float]) -> str:
    """The picture; times must be above zero."""
    low, high = math.log10(min(seconds.values())) - 0.2, math.log10(max(seconds.values())) + 0.1
    height = 50 + _ROW * len(seconds)
    rows = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _WIDTH + 80}" height="{height}" '
        'font-family="sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="10" y="22" font-weight="bold">{escape(title)}</text>',
    ]
    for number, (name, value) in enumerate(seconds.items()):
        top, wide = 38 + _ROW * number, (math.log10(value) - low) / (high - low) * _WIDTH
        colour = "#2b6cb0" if name.startswith("check") else "#a0aec0"
        rows += [
            f'<text x="{_LEFT - 8}" y="{top + 14}" text-anchor="end">{escape(name)}</text>',
            f'<rect x="{_LEFT}" y="{top}" width="{wide:.0f}" height="18" fill="{colour}"/>',
            f'<text x="{_LEFT + wide + 6:.0f}" y="{top + 14}">{value:.2f} s</text>',
        ]
    return "\n".join([*rows, "</svg>", ""])
