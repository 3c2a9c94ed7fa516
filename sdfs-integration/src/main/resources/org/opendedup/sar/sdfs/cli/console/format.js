// Numbers, sizes and times for people.

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];

function rounded(value) {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function bytes(value) {
  if (!Number.isFinite(value)) return "–";
  let unit = 0;
  let scaled = value;
  while (Math.abs(scaled) >= 1024 && unit < UNITS.length - 1) {
    scaled /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${Math.round(scaled)} bytes` : `${rounded(scaled)} ${UNITS[unit]}`;
}

export function number(value) {
  return Number.isFinite(value) ? Math.round(value).toLocaleString("en") : "–";
}

export function decimal(value) {
  return Number.isFinite(value) ? (value === 0 ? "0" : rounded(value)) : "–";
}

export const speed = (bytesPerSecond) => `${decimal(bytesPerSecond / 1e6)} MB/s`;

export const perSecond = (value) => `${value >= 10 ? number(value) : decimal(value)}/s`;

export function micros(value) {
  if (!Number.isFinite(value) || value === 0) return "–";
  return value >= 1000 ? `${rounded(value / 1000)} ms` : `${Math.round(value)} µs`;
}

export function duration(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

export function percent(part, whole) {
  return whole > 0 ? `${Math.round((100 * part) / whole)} %` : "–";
}

export const clock = (millis, withSeconds) =>
  new Date(millis).toLocaleTimeString("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    second: withSeconds ? "2-digit" : undefined,
  });

// The words of an attribute's name: ReferenceCountThreshold is "reference count threshold".
export const words = (name) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .replace(/\b(ssd|lru)\b/g, (word) => word.toUpperCase());
