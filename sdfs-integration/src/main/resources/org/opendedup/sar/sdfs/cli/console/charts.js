// Charts as SVG. A chart is an image with a text for those who do not see it.

import { h, svg } from "./dom.js";
import { clock } from "./format.js";

const WIDTH_FIRST = 560;
const HEIGHT = 150;
const LEFT = 66;
const BOTTOM = 20;
const TOP = 8;

// A round number that is not less than the value: 1, 2 or 5 times a power of 10, or of 2 for sizes.
function ceiling(value, binary) {
  if (value <= 0) return 1;
  if (binary) {
    const unit = 1024 ** Math.max(0, Math.floor(Math.log(value) / Math.log(1024)));
    return ceiling(value / unit, false) * unit;
  }
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

function path(points, x, y) {
  return points.map(([time, value], i) => `${i ? "L" : "M"}${x(time).toFixed(1)} ${y(value).toFixed(1)}`).join("");
}

// A chart of one or more curves. Each series has a name, a class for its colour, and points of time and value.
export class LineChart {
  constructor({ label, format, binary = false }) {
    this.label = label;
    this.format = format;
    this.binary = binary;
    this.legend = h("ul", { class: "legend" });
    this.image = svg("svg", { role: "img" });
    this.element = h("figure", { class: "chart" }, this.image, this.legend);
    this.image.addEventListener("pointermove", (event) => this.point(event));
    this.image.addEventListener("pointerleave", () => this.draw(null));
    this.series = [];
    // One unit of the image is one pixel, so that texts keep their size.
    this.resize(WIDTH_FIRST);
    new ResizeObserver(([entry]) => this.resize(Math.round(entry.contentRect.width))).observe(this.element);
  }

  resize(width) {
    if (width === 0 || width === this.width) return;
    this.width = width;
    this.image.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    if (this.to) this.draw(null);
  }

  show(series, from, to) {
    this.series = series;
    this.from = from;
    this.to = Math.max(to, from + 1);
    this.draw(null);
  }

  point(event) {
    const box = this.image.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * this.width;
    this.draw(this.from + ((at - LEFT) / (this.width - LEFT)) * (this.to - this.from));
  }

  draw(at) {
    const width = this.width;
    const shown = this.series.map((one) => ({
      ...one,
      points: one.points.filter(([time, value]) => time >= this.from && Number.isFinite(value)),
    }));
    const most = Math.max(0, ...shown.flatMap((one) => one.points.map((point) => point[1])));
    const top = ceiling(most, this.binary);
    const x = (time) => LEFT + ((time - this.from) / (this.to - this.from)) * (width - LEFT);
    const y = (value) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - BOTTOM - TOP);
    const parts = [];
    for (const share of [0, 0.5, 1]) {
      const height = y(top * share);
      parts.push(
        svg("line", { class: "gridline", x1: LEFT, x2: width, y1: height, y2: height }),
        svg("text", { x: LEFT - 8, y: height + 4, "text-anchor": "end" }, share === 0 ? "0" : this.format(top * share)),
      );
    }
    const withSeconds = this.to - this.from < 3600e3;
    parts.push(
      svg("text", { x: LEFT, y: HEIGHT - 4 }, clock(this.from, withSeconds)),
      svg("text", { x: width, y: HEIGHT - 4, "text-anchor": "end" }, clock(this.to, withSeconds)),
    );
    if (shown.every((one) => one.points.length < 2)) {
      parts.push(
        svg("text", { class: "empty", x: (LEFT + width) / 2, y: HEIGHT / 2, "text-anchor": "middle" }, "no samples yet"),
      );
    }
    for (const one of shown.filter((other) => other.points.length > 1)) {
      const curve = path(one.points, x, y);
      const [first, last] = [one.points[0], one.points.at(-1)];
      parts.push(
        svg("path", { class: `area ${one.class}`, d: `${curve}L${x(last[0])} ${y(0)}L${x(first[0])} ${y(0)}Z` }),
        svg("path", { class: `curve ${one.class}`, d: curve }),
      );
    }
    if (at !== null) {
      parts.push(svg("line", { class: "cursor", x1: x(at), x2: x(at), y1: TOP, y2: HEIGHT - BOTTOM }));
    }
    this.image.replaceChildren(...parts);
    const values = shown.map((one) => [one, this.valueAt(one.points, at)]);
    this.legend.replaceChildren(
      ...values.map(([one, value]) => h("li", { class: one.class }, `${one.name} `, h("b", {}, this.format(value)))),
    );
    this.image.setAttribute(
      "aria-label",
      `${this.label}: ${values.map(([one, value]) => `${one.name} ${this.format(value)}`).join(", ")}`,
    );
  }

  valueAt(points, at) {
    if (at === null) return points.at(-1)?.[1] ?? NaN;
    let nearest = [Infinity, NaN];
    for (const [time, value] of points) {
      if (Math.abs(time - at) < nearest[0]) nearest = [Math.abs(time - at), value];
    }
    return nearest[1];
  }
}

// Parts of a whole, as a bar with a legend.
export function shares(label, parts, format) {
  const whole = parts.reduce((sum, part) => sum + part.value, 0);
  const text = parts.map((part) => `${part.name} ${format(part.value)}`).join(", ");
  const bar = h("div", { class: "bar", role: "img", "aria-label": `${label}: ${text}` });
  for (const part of parts) {
    const piece = h("span", { class: part.class });
    piece.style.width = `${whole > 0 ? (100 * part.value) / whole : 0}%`;
    bar.append(piece);
  }
  const legend = parts.map((part) => h("li", { class: part.class }, `${part.name} `, h("b", {}, format(part.value))));
  return h("div", {}, bar, h("ul", { class: "legend" }, legend));
}

// Counts by cause, each as a bar.
export function causes(counts, format) {
  const most = Math.max(1, ...counts.map(([, value]) => value));
  return h(
    "div",
    { class: "causes" },
    counts.map(([name, value]) => {
      const piece = h("span");
      piece.style.width = `${(100 * value) / most}%`;
      return [h("span", {}, name), h("span", { class: "track", "aria-hidden": "true" }, piece), h("span", { class: "number" }, format(value))];
    }),
  );
}

// A file: its parts from left to right, the containers that they lie in from below, in the order in which these were stored.
export function filePicture(file, columns, format) {
  const highest = file.cells.reduce((row, wanted, i) => (wanted > 0 ? Math.floor(i / columns) : row), 0);
  const rows = highest + 1;
  const cell = 6;
  // A file of few containers has higher rows.
  const rowHeight = Math.min(24, Math.max(cell, (20 * cell) / rows));
  const height = rows * rowHeight;
  const parts = [];
  file.cells.forEach((wanted, i) => {
    if (wanted === 0) return;
    const x = (i % columns) * cell;
    const y = height - (Math.floor(i / columns) + 1) * rowHeight;
    const strength = 0.3 + 0.7 * Math.min(1, wanted / file.columnBytes);
    const ssd = (rowHeight - 0.6) * (file.ssdCells[i] / wanted);
    parts.push(
      svg("rect", { class: "cell disk", x, y, width: cell - 0.6, height: rowHeight - 0.6 - ssd, opacity: strength }),
      svg("rect", { class: "cell ssd", x, y: y + rowHeight - 0.6 - ssd, width: cell - 0.6, height: ssd, opacity: strength }),
    );
  });
  const label = `The file wants ${file.containers} containers; the SSD has copies of ${format(file.ssdBytes)} of ${format(file.bytes)}`;
  return svg("svg", { viewBox: `0 0 ${columns * cell} ${height}`, role: "img", "aria-label": label }, parts);
}
