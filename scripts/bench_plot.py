"""Plots as SVG, without a library: bars in groups, and distributions."""

import math
from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 340, 64, 20, 56, 56
COLOURS = ("#4d4d4d", "#c0504d", "#e0a030", "#4f81bd", "#6aa84f", "#8064a2", "#31859c")


def bars(title, unit, groups, series):
    """Bars in groups. series: dict of name to one value per group, None if there is none."""
    most = max(value for values in series.values() for value in values if value is not None) or 1
    scale = Scale(0, most * 1.05, TOP + HEIGHT, TOP)
    parts = frame(title, series)
    parts += vertical_axis(scale, unit, steps(most * 1.05))
    group_width = WIDTH / len(groups)
    bar_width = group_width * 0.8 / len(series)
    for number, group in enumerate(groups):
        left = LEFT + group_width * (number + 0.1)
        parts.append(text(LEFT + group_width * (number + 0.5), TOP + HEIGHT + 18, group, "middle"))
        for place, values in enumerate(series.values()):
            if values[number] is None:
                continue
            top = scale.at(values[number])
            parts.append(f'<rect x="{left + place * bar_width:.1f}" y="{top:.1f}" width="{bar_width - 1:.1f}" '
                         f'height="{TOP + HEIGHT - top:.1f}" fill="{colour(place)}"/>')
    return document(parts)


def distributions(title, unit, series):
    """Cumulative distributions over a logarithmic axis. series: dict of name to positive values."""
    everything = [value for values in series.values() for value in values]
    low, high = decade_below(min(everything)), decade_below(max(everything)) * 10
    across = LogScale(low, high, LEFT, LEFT + WIDTH)
    up = Scale(0, 100, TOP + HEIGHT, TOP)
    parts = frame(title, series)
    parts += vertical_axis(up, "% of reads", [0, 25, 50, 75, 100])
    mark = low
    while mark <= high:
        x = across.at(mark)
        parts.append(line(x, TOP, x, TOP + HEIGHT, "#dddddd"))
        parts.append(text(x, TOP + HEIGHT + 18, f"{mark:g}", "middle"))
        mark *= 10
    parts.append(text(LEFT + WIDTH / 2, TOP + HEIGHT + 40, unit, "middle"))
    for place, values in enumerate(series.values()):
        ordered = sorted(values)
        points = " ".join(f"{across.at(value):.1f},{up.at(100 * (rank + 1) / len(ordered)):.1f}" for rank, value in enumerate(ordered))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour(place)}" stroke-width="2"/>')
    return document(parts)


class Scale:
    """Linear map from values to places on the page."""

    def __init__(self, low, high, first, last):
        self.low, self.high, self.first, self.last = self.map(low), self.map(high), first, last

    def at(self, value):
        return self.first + (self.map(value) - self.low) / (self.high - self.low) * (self.last - self.first)

    @staticmethod
    def map(value):
        return value


class LogScale(Scale):
    @staticmethod
    def map(value):
        return math.log10(value)


def decade_below(value):
    return 10.0 ** math.floor(math.log10(value))


def steps(most):
    """About five round marks from 0 to most."""
    rough = most / 5
    size = decade_below(rough)
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)
    return [number * step for number in range(int(most / step) + 1)]


def vertical_axis(scale, unit, marks):
    parts = [text(8, TOP - 12, unit, "start")]
    for mark in marks:
        y = scale.at(mark)
        parts.append(line(LEFT, y, LEFT + WIDTH, y, "#dddddd"))
        parts.append(text(LEFT - 6, y + 4, f"{mark:g}", "end"))
    return parts


def frame(title, series):
    parts = [f'<text x="{LEFT}" y="18" font-size="15" font-weight="bold">{escape(title)}</text>']
    x = LEFT + WIDTH
    for place, name in reversed(list(enumerate(series))):
        x -= 8 * len(name) + 24
        parts.append(f'<rect x="{x}" y="{TOP - 24}" width="12" height="12" fill="{colour(place)}"/>')
        parts.append(text(x + 16, TOP - 13, name, "start"))
    return parts


def colour(place):
    return COLOURS[place % len(COLOURS)]


def line(x1, y1, x2, y2, stroke):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}"/>'


def text(x, y, content, anchor):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(content)}</text>'


def document(parts):
    width, height = LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
                      'font-family="sans-serif" font-size="12">', f'<rect width="{width}" height="{height}" fill="white"/>',
                      *parts, "</svg>", ""])
