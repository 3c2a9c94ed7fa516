// The view of one volume: a card for each of its parts.

import * as api from "./api.js";
import { causes, filePicture, LineChart, shares } from "./charts.js";
import { h, keyed, setText } from "./dom.js";
import { bytes, decimal, duration, micros, number, percent, perSecond, speed, words } from "./format.js";

// What each refresh reads; a volume without files, an SSD or an object store has not all of it.
const FIGURES = {
  Volume: true,
  ReadLatencies: true,
  DataDistributor: true,
  SelectivePromotion: true,
  DataDemotion: true,
  MapTable: true,
  SsdLog: true,
  FastTier: true,
  ObjectStore: true,
  Jobs: true,
  Streams: true,
  RestoreCache: true,
  DamagedFiles: true,
};
// Where reads of programs waited, the fastest first: the beginning of the names in the bean, what is shown, the colour.
const PLACES = [
  ["FromMemory", "memory", "memory"],
  ["FromFastTier", "fast tier", "tier"],
  ["FromSsd", "SSD", "ssd"],
  ["FromAhead", "read ahead", "ahead"],
  ["FromDisk", "disk", "disk"],
];
const HISTORY_MS = 60_000;
const LIVE_MS = 5 * 60_000;
const DAY_MS = 24 * 3600_000;
const COLUMNS = 96;

const STARTS = [
  ["GarbageCollector", "Collect garbage"],
  ["Scrub", "Scrub"],
  ["Heal", "Heal"],
  ["Check", "Check"],
  ["ExactPass", "Join copies"],
];

// Beans with settings, in the order in which these are shown.
const GROUPS = {
  SelectivePromotion: "SAR",
  LruList: "SAR",
  SsdLog: "SAR",
  GarbageCollector: "Garbage collection",
  Scrub: "Scrub",
};

// Bounds of the type are no bounds.
const UNBOUNDED = ["2147483647", "9223372036854775807"];

const PROMOTED = { PromotedByWrite: "written twice", PromotedByRead: "read", PromotedByRecipe: "few of a container used" };

const REFUSED = {
  RefusedCount: "too few references",
  RefusedRun: "in a long run",
  RefusedPresent: "there already",
  RefusedRank: "of less value than what is there",
  RefusedTooLarge: "too long",
  RefusedNoRoom: "no room was made",
  RefusedQueue: "queue full",
  RefusedUnavailable: "no SSD, or no writes",
  RefusedWriteFailed: "SSD failed",
  RefusedDamaged: "damaged",
  RefusedUnreadable: "unreadable",
  RefusedUnreferenced: "in no file any more",
};

const DEMOTED = {
  DemotedBySettings: "settings or request",
  DemotedBySpace: "room for others",
  DemotedUnreferenced: "in no file any more",
  DemotedDamaged: "damaged",
};

export function pill(health, text = health) {
  const known = ["well", "degraded", "damaged"].includes(health) ? health : "unknown";
  return h("span", { class: `pill ${known}` }, text);
}

function card(title, ...children) {
  return h("section", { class: "card", "aria-label": title }, h("h2", {}, title), ...children);
}

function tiles(pairs) {
  return h(
    "dl",
    { class: "tiles" },
    pairs.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );
}

// The samples of this page, and those of the last day that the volume keeps.
class Samples {
  constructor() {
    this.live = [];
    this.day = [];
  }

  add(figures) {
    const now = { time: Date.now(), ...figures.Volume, ...prefixed(figures) };
    this.live = [...this.live.filter((one) => one.time > now.time - LIVE_MS - 10_000), now];
  }

  addDay(history) {
    const { Times: times, ...series } = history;
    this.day = times.map((time, i) => {
      const sample = { time };
      for (const [name, values] of Object.entries(series)) {
        // Another sample may have been taken between two attributes.
        if (Array.isArray(values)) sample[name] = values[values.length - times.length + i];
      }
      return sample;
    });
  }

  of(range) {
    return range === "live" ? this.live : [...this.day, ...this.live.slice(-1)];
  }
}

function prefixed(figures) {
  return { ...figures.DataDistributor, ...figures.ReadLatencies, Entries: figures.MapTable?.Entries };
}

const level = (samples, name) => samples.map((one) => [one.time, one[name]]);

const rate = (samples, name) =>
  samples.slice(1).map((one, i) => [one.time, (one[name] - samples[i][name]) / ((one.time - samples[i].time) / 1000)]);

// The mean of what came between two samples, from means since the mount; nothing came: no point.
const mean = (samples, count, value) =>
  samples.slice(1).flatMap((one, i) => {
    const before = samples[i];
    const more = one[count] - before[count];
    return more > 0 ? [[one.time, (one[count] * one[value] - before[count] * before[value]) / more]] : [];
  });

// The reads that waited for a place between the first and the last sample, by duration. The samples of a day have no
// such numbers: then those since the mount.
function durations(samples, place) {
  const [first, last] = [samples[0], samples.at(-1)];
  const counts = (last?.[`${place}Buckets`] ?? []).map((count, i) => count - (first[`${place}Buckets`]?.[i] ?? 0));
  return { counts, bounds: last?.BucketBoundsMicros ?? [], reads: counts.reduce((sum, count) => sum + count, 0) };
}

// The bound of the bucket in which this share of the reads has ended.
function within({ counts, bounds, reads }, share) {
  let ended = 0;
  const bucket = counts.findIndex((count) => (ended += count) >= share * reads);
  return bucket < bounds.length ? micros(bounds[bucket]) : `over ${micros(bounds.at(-1))}`;
}

// How many reads waited for each place, and how long at most.
class WaitTable {
  constructor() {
    this.element = h("div", { class: "scroll" });
  }

  show(places) {
    const read = places.filter((place) => place.reads > 0);
    if (read.length === 0) {
      this.element.replaceChildren(h("p", { class: "soft small" }, "no reads in this time"));
      return;
    }
    const row = (place) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, place.name),
        [number(place.reads), ...[0.5, 0.95, 0.99].map((share) => within(place, share))].map((value) => h("td", { class: "number" }, value)),
      );
    this.element.replaceChildren(
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, h("th", {}, "slowest place"), ["reads", "50 % within", "95 %", "99 %"].map((name) => h("th", { scope: "col", class: "number" }, name)))),
        h("tbody", {}, read.map(row)),
      ),
    );
  }
}

// A card with charts over the last minutes or the last day.
class Course {
  constructor(title, charts, ...more) {
    this.range = "live";
    this.charts = charts;
    const choose = (range, text) => {
      const button = h("button", { type: "button", "aria-pressed": String(range === this.range) }, text);
      button.addEventListener("click", () => {
        this.range = range;
        this.buttons.forEach((one) => one.setAttribute("aria-pressed", String(one === button)));
        this.draw(this.samples);
      });
      return button;
    };
    this.buttons = [choose("live", "5 min"), choose("day", "24 h")];
    this.element = h(
      "section",
      { class: "card", "aria-label": title },
      h("div", { class: "row" }, h("h2", {}, title), h("div", { class: "choice", role: "group", "aria-label": "Range" }, this.buttons)),
      ...more,
      charts.map(({ title: name, chart }) => [h("h3", {}, name), chart.element]),
    );
  }

  draw(samples) {
    if (!samples) return;
    this.samples = samples;
    const now = Date.now();
    const shown = samples.of(this.range);
    const from = Math.max(now - (this.range === "live" ? LIVE_MS : DAY_MS), shown[0]?.time ?? 0);
    this.charts.forEach(({ chart, series }) => chart.show(series(shown), from, now));
  }
}

export class VolumeView {
  constructor(volume, mayChange) {
    this.volume = volume;
    this.mayChange = mayChange;
    this.samples = new Samples();
    this.historyAt = -Infinity;

    this.health = h("span");
    this.since = h("span", { class: "soft small" });
    this.findings = h("ul", { class: "findings", "aria-label": "What is wrong" });
    this.spaceNow = h("div");
    this.space = new Course(
      "Space",
      [
        {
          title: "Course",
          chart: new LineChart({ label: "Space", format: bytes, binary: true }),
          series: (samples) => [
            ...(samples.at(-1)?.LogicalBytes === undefined ? [] : [{ name: "files", class: "plain", points: level(samples, "LogicalBytes") }]),
            { name: "stored", class: "disk", points: level(samples, "StoredBytes") },
            { name: "garbage", class: "garbage", points: level(samples, "ReclaimableBytes") },
          ],
        },
      ],
      this.spaceNow,
    );
    this.traffic = new Course("Traffic", [
      {
        title: "Programs",
        chart: new LineChart({ label: "Bytes of programs", format: speed }),
        series: (samples) => [
          { name: "read", class: "disk", points: rate(samples, "ReadBytes") },
          { name: "written", class: "write", points: rate(samples, "WrittenBytes") },
        ],
      },
      {
        title: "Frames read, by source",
        chart: new LineChart({ label: "Frames read", format: perSecond }),
        series: (samples) => [
          { name: "memory", class: "memory", points: rate(samples, "CacheHits") },
          { name: "disk", class: "disk", points: rate(samples, "CacheMisses") },
        ],
      },
    ]);
    this.waits = new Course("Response time of reads", [
      {
        title: "Mean, by the slowest place that a read waited for",
        chart: new LineChart({ label: "Mean response time of reads", format: micros }),
        series: (samples) =>
          PLACES.map(([place, name, colour]) => ({ name, class: colour, points: mean(samples, `${place}Reads`, `${place}MeanMicros`) })).filter(
            (one) => one.points.length > 0,
          ),
      },
      {
        title: "How many took how long: in 5 minutes, or since the mount",
        chart: new WaitTable(),
        series: (samples) => PLACES.map(([place, name]) => ({ name, ...durations(samples, place) })),
      },
    ]);
    this.latencies = h("div", { class: "scroll" });
    this.sources = new Course(
      "Reads by source",
      [
        {
          title: "Chunks",
          chart: new LineChart({ label: "Chunks read", format: perSecond }),
          series: (samples) => [
            { name: "memory", class: "memory", points: rate(samples, "MemoryHits") },
            { name: "SSD", class: "ssd", points: rate(samples, "SsdHits") },
            { name: "disk", class: "disk", points: rate(samples, "HomeReads") },
          ],
        },
        {
          title: "Mean response time of SSD and disk",
          chart: new LineChart({ label: "Mean response time", format: micros }),
          series: (samples) => [
            { name: "SSD", class: "ssd", points: mean(samples, "SsdLatencyReads", "SsdLatencyMeanMicros") },
            { name: "disk", class: "disk", points: mean(samples, "HomeLatencyReads", "HomeLatencyMeanMicros") },
          ],
        },
      ],
      this.latencies,
    );
    this.jobs = new JobsCard(this);
    this.ssd = h("div");
    this.ssdCard = card("SSD", this.ssd);
    this.store = h("div");
    this.storeCard = card("Object store", this.store);
    this.settings = new SettingsCard(this);
    this.readers = h("div", { class: "scroll" });
    this.readersCard = card("Sequential readers", this.readers);
    this.damage = new DamageCard(this);
    this.explain = new ExplainCard(this);
    this.element = h(
      "div",
      {},
      h(
        "div",
        { class: "head" },
        h("h1", {}, volume.name),
        this.health,
        this.since,
        h("p", { class: "where" }, h("a", { href: "#/" }, "All volumes"), ` · ${volume.mountPoint ?? "mounted by OpenDedup SDFS"}`),
      ),
      this.findings,
      h(
        "div",
        { class: "sections" },
        h("div", { class: "column" }, this.space.element, this.storeCard, this.sources.element, this.readersCard),
        h("div", { class: "column" }, this.traffic.element, this.waits.element, this.jobs.element, this.ssdCard, this.damage.element),
        this.explain.element,
        this.settings.element,
      ),
    );
  }

  async refresh() {
    const figures = await api.read(this.volume, FIGURES);
    if (performance.now() - this.historyAt > HISTORY_MS) {
      this.historyAt = performance.now();
      const { History: history } = await api.read(this.volume, { History: true });
      if (history) this.samples.addDay(history);
      await this.settings.read();
      await this.jobs.read();
    }
    this.samples.add(figures);
    this.draw(figures);
  }

  draw(figures) {
    const now = figures.Volume;
    this.health.replaceChildren(pill(now.Health));
    setText(this.since, `for ${duration(now.UptimeSeconds)}, process ${now.Pid}, ${bytes(now.RssBytes)} of memory`);
    keyed(
      this.findings,
      now.Findings,
      (line) => line,
      (line) => h("li", { class: line.split(":")[0] }),
      (item, line) => setText(item, line),
    );
    this.findings.hidden = now.Findings.length === 0;
    this.drawSpace(now);
    this.storeCard.hidden = !figures.ObjectStore;
    if (figures.ObjectStore) this.drawStore(figures.ObjectStore);
    this.space.draw(this.samples);
    this.traffic.draw(this.samples);
    this.waits.element.hidden = !figures.ReadLatencies;
    this.waits.draw(this.samples);
    const hasSsd = figures.SsdLog && figures.SsdLog.State !== "none";
    this.sources.element.hidden = !hasSsd;
    this.ssdCard.hidden = !hasSsd;
    if (hasSsd) {
      this.sources.draw(this.samples);
      this.drawLatencies(figures.DataDistributor);
      this.drawSsd(figures);
    }
    this.jobs.draw(figures);
    this.settings.drawDemotion(figures.DataDemotion);
    this.drawReaders(figures);
    this.damage.draw(figures);
    this.explain.element.hidden = !figures.Streams;
  }

  drawSpace(now) {
    const ofFiles = now.LogicalBytes === undefined
      ? []
      : [
          ["files", bytes(now.LogicalBytes)],
          ["deduplication", `${decimal(now.DedupRatio)} : 1`],
          ["with compression", `${decimal(now.ReductionRatio)} : 1`],
          ...(now.Snapshots
            ? [
                ["snapshots", number(now.Snapshots)],
                ["the newest", `${duration(now.time / 1000 - now.NewestSnapshotSeconds)} old`],
              ]
            : []),
        ];
    this.spaceNow.replaceChildren(
      shares(
        "Space on the disk",
        [
          { name: "stored", class: "disk", value: now.StoredBytes - now.ReclaimableBytes },
          { name: "garbage", class: "garbage", value: now.ReclaimableBytes },
          { name: "free", class: "free", value: now.DeviceFreeBytes },
        ],
        bytes,
      ),
      h("h3", {}, "Now"),
      tiles([...ofFiles, ["chunks", number(now.Chunks)]]),
    );
  }

  drawStore(store) {
    this.store.replaceChildren(
      h("p", { class: "small" }, store.Address, ` · an fsync returns when ${store.Durability === "remote" ? "it" : "this machine"} has the bytes`),
      tiles([
        ["not there yet", bytes(store.MissingBytes)],
        ["for", duration(store.MissingSeconds)],
        ["sent", bytes(store.SentBytes)],
        ["received", bytes(store.ReceivedBytes)],
        ["an answer takes", micros(store.ReadMillis * 1000)],
        ["requests", store.Breaker === "closed" ? "answered" : `breaker ${store.Breaker}`],
      ]),
      store.Failure ? h("p", { class: "small" }, store.Failure) : "",
    );
  }

  drawLatencies(sources) {
    const line = (name, prefix) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, name),
        ["MeanMicros", "P50Micros", "P95Micros", "P99Micros", "MaxMicros"].map((figure) =>
          h("td", { class: "number" }, micros(sources[`${prefix}Latency${figure}`])),
        ),
      );
    this.latencies.replaceChildren(
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", {}, "since the mount"),
            ["mean", "50 %", "95 %", "99 %", "longest"].map((name) => h("th", { scope: "col", class: "number" }, name)),
          ),
        ),
        h("tbody", {}, line("SSD", "Ssd"), line("disk", "Home")),
      ),
    );
  }

  drawSsd({ SsdLog: log, MapTable: table, SelectivePromotion: promotion, DataDemotion: demotion }) {
    const of = (figures, names) =>
      Object.entries(names).map(([name, text]) => [text, figures[name]]).filter(([, value]) => value > 0);
    const section = (title, counts) => [
      h("h3", {}, title),
      counts.length ? causes(counts, number) : h("p", { class: "soft small" }, "none since the mount"),
    ];
    this.ssd.replaceChildren(
      h("p", { class: "small" }, h("b", {}, log.State), log.Reason ? ` – ${log.Reason}` : "", ` · ${log.Location}`),
      shares(
        "SSD",
        [
          { name: "copies", class: "ssd", value: log.LiveBytes },
          { name: "other", class: "garbage", value: Math.max(0, log.UsedBytes - log.LiveBytes) },
          { name: "free", class: "free", value: Math.max(0, log.CapacityBytes - log.UsedBytes) },
        ],
        bytes,
      ),
      tiles([
        ["chunks on it", number(table.Entries)],
        ["waiting", number(promotion.QueuedChunks + promotion.RememberedChunks)],
        ["promoted", number(promotion.PromotedChunks)],
        ["demoted", number(demotion.DemotedChunks)],
      ]),
      ...section("Promoted because", of(promotion, PROMOTED)),
      ...section("Not promoted because", of(promotion, REFUSED)),
      ...section("Demoted because", of(demotion, DEMOTED)),
    );
  }

  drawReaders({ Streams: streams, RestoreCache: cache }) {
    this.readersCard.hidden = !streams;
    if (!streams) return;
    const about = h(
      "p",
      { class: "soft small" },
      `${bytes(cache.HeldBytes)} held in memory by the policy ${cache.Policy}; the disk (${streams.DiskSource}) seeks in`
        + ` ${decimal(streams.DiskSeekMillis)} ms and reads ${decimal(streams.DiskMbPerSecond)} MB/s`,
    );
    if (streams.Readers.length === 0) {
      this.readers.replaceChildren(h("p", { class: "soft" }, "No program reads in sequence now."), about);
      return;
    }
    const row = (reader) =>
      h(
        "tr",
        {},
        [
          reader.inode,
          percent(reader.offset, reader.fileBytes),
          `${decimal(reader.mbPerSecond)} MB/s`,
          bytes(reader.diskBytes),
          percent(reader.ssdBytes, reader.readBytes),
          percent(reader.memoryBytes, reader.readBytes),
        ].map((value) => h("td", { class: "number" }, String(value))),
      );
    this.readers.replaceChildren(
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h("tr", {}, ["inode", "read", "speed", "from disk", "SSD", "memory"].map((name) => h("th", { scope: "col", class: "number" }, name))),
        ),
        h("tbody", {}, streams.Readers.slice(0, 20).map(row)),
      ),
      about,
    );
  }

  // Does what a button asks for, and says what came of it.
  async act(button, output, action, done) {
    button.disabled = true;
    output.className = "small soft";
    setText(output, "");
    try {
      await action();
      output.className = "small done";
      setText(output, done);
      setTimeout(() => output.textContent === done && setText(output, ""), 8000);
    } catch (failure) {
      output.className = "small error";
      setText(output, failure.message);
    } finally {
      button.disabled = false;
    }
  }
}

class JobsCard {
  constructor(view) {
    this.view = view;
    this.list = h("div");
    this.none = h("p", { class: "soft" }, "No job has run since the mount.");
    this.output = h("p", { class: "small", role: "status" });
    this.actions = h("div", { class: "actions" });
    for (const [type, text] of view.mayChange ? STARTS : []) {
      const button = h("button", { type: "button", "data-type": type, hidden: true }, text);
      button.addEventListener("click", () =>
        view.act(button, this.output, () => api.call(view.volume, type, "start"), `${text}: started`),
      );
      this.actions.append(button);
    }
    this.element = card("Jobs", this.none, this.list, this.actions, this.output);
  }

  // Shows the buttons of the jobs that the volume has.
  async read() {
    const known = await api.read(this.view.volume, Object.fromEntries(STARTS.map(([type]) => [type, true])));
    for (const button of this.actions.children) {
      button.hidden = !known[button.dataset.type];
    }
  }

  draw({ Jobs: jobs, DataDemotion: demotion }) {
    const all = [...(jobs?.Latest ?? [])];
    if (demotion?.Running) {
      all.push({ kind: "demotion", number: 0, state: "running", step: "list items examined", done: demotion.Examined, of: demotion.ToExamine });
    }
    all.sort((one, other) => (other.state === "running") - (one.state === "running") || one.kind.localeCompare(other.kind));
    this.none.hidden = all.length > 0;
    keyed(this.list, all, (job) => `${job.kind} ${job.number}`, (job) => this.make(job), (element, job) => this.update(element, job));
  }

  make(job) {
    const element = h("div", { class: "job" }, h("span", { class: "name" }, job.kind), h("progress", { max: 1 }), h("span", { class: "about soft small" }));
    if (this.view.mayChange && job.number > 0) {
      const button = h("button", { type: "button", "aria-label": `Stop the ${job.kind}` }, "Stop");
      button.addEventListener("click", () =>
        this.view.act(button, this.output, () => api.call(this.view.volume, "Jobs", "stop", job.kind, job.number), `${job.kind}: stopping`),
      );
      element.append(button);
    }
    return element;
  }

  update(element, job) {
    const isRunning = job.state === "running";
    const progress = element.querySelector("progress");
    progress.hidden = !isRunning;
    progress.setAttribute("aria-label", job.kind);
    if (isRunning && job.of > 0) {
      progress.value = job.done / job.of;
    } else {
      progress.removeAttribute("value");
    }
    const button = element.querySelector("button");
    if (button) button.hidden = !isRunning;
    const about = isRunning
      ? [job.step, job.of > 0 ? `${percent(job.done, job.of)}` : job.done > 0 ? number(job.done) : "", job.seconds ? duration(job.seconds) : ""]
      : [job.state, `after ${duration(job.seconds)}`, `by ${job.cause}`, job.ended.replace("T", " ").replace("Z", " UTC"), job.failure];
    setText(element.querySelector(".about"), about.filter(Boolean).join(" · "));
  }
}

class SettingsCard {
  constructor(view) {
    this.view = view;
    this.list = h("div");
    this.output = h("p", { class: "small", role: "status" });
    this.demotion = h("progress", { max: 1, "aria-label": "Demotion", hidden: true });
    this.demoting = h("p", { class: "small soft", role: "status" });
    this.element = card("Settings", this.output, this.demotion, this.demoting, this.list);
    this.element.classList.add("wide");
    this.groups = new Map();
  }

  // The list of settings of a group.
  group(name) {
    if (!this.groups.has(name)) {
      const list = h("div", { class: "settings" });
      this.groups.set(name, list);
      this.list.append(h("h3", {}, name), list);
    }
    return this.groups.get(name);
  }

  async read() {
    const { Parameters: parameters } = await api.read(this.view.volume, { Parameters: ["All"] });
    const all = parameters?.All ?? [];
    this.element.hidden = all.length === 0;
    const groupOf = (one) => GROUPS[one.bean] ?? words(one.bean);
    for (const group of new Set([...Object.values(GROUPS), ...all.map(groupOf)])) {
      const own = all.filter((one) => groupOf(one) === group);
      if (own.length > 0) {
        const order = (one) => Object.keys(GROUPS).indexOf(one.bean);
        own.sort((one, other) => order(one) - order(other));
        keyed(this.group(group), own, (one) => `${one.bean} ${one.name}`, (one) => this.make(one), (row, one) => this.update(row, one));
      }
    }
  }

  make(one) {
    const id = `set-${one.bean}-${one.name}`;
    const range = one.least && (UNBOUNDED.includes(one.most) ? `at least ${one.least}` : `${one.least} to ${one.most}`);
    const unit = one.type === "boolean" || one.unit === "name" ? "" : one.unit;
    const limits = [unit, range].filter(Boolean).join(", ");
    const about = limits ? `${one.text} (${limits})` : one.text;
    const input = this.input(one, id);
    const button = h("button", { type: "button", disabled: !this.view.mayChange }, "Set");
    const set = () =>
      this.view.act(
        button,
        this.output,
        async () => {
          const value = chosen(one, input);
          if (value === null) throw new Error(`${words(one.name)} is a whole number, ${range}.`);
          await api.write(this.view.volume, one.bean, one.name, value);
          input.dataset.edited = "";
          await this.read();
        },
        `${words(one.name)} is set.`,
      );
    button.addEventListener("click", set);
    input.addEventListener("keydown", (event) => event.key === "Enter" && this.view.mayChange && set());
    input.addEventListener("input", () => {
      input.dataset.edited = "yes";
    });
    return h(
      "div",
      { class: "setting" },
      h("label", { for: id }, words(one.name)),
      h("div", { class: "inline" }, input, button),
      h("div", { class: "about", id: `${id}-about` }, about),
    );
  }

  input(one, id) {
    const common = { id, disabled: !this.view.mayChange, "aria-describedby": `${id}-about` };
    if (one.choices) {
      return h("select", common, one.choices.split(",").map((choice) => h("option", { value: choice }, choice)));
    }
    if (one.type === "boolean") return h("input", { ...common, type: "checkbox" });
    if (one.least) return h("input", { ...common, type: "text", inputmode: "numeric", autocomplete: "off" });
    return h("input", { ...common, type: "text", autocomplete: "off" });
  }

  // What the user is typing stays.
  update(row, one) {
    const input = row.querySelector("input, select");
    if (input.dataset.edited === "yes") return;
    if (input.type === "checkbox") {
      input.checked = one.value === "true";
    } else {
      input.value = one.value;
    }
  }

  drawDemotion(demotion) {
    const runs = Boolean(demotion?.Running);
    const demoted = demotion?.DemotedBySettings ?? 0;
    this.demotedBefore ??= demoted;
    this.demotion.hidden = !runs;
    if (runs) {
      this.demotion.value = demotion.ToExamine > 0 ? demotion.Examined / demotion.ToExamine : 0;
      setText(this.demoting, `demotion runs: ${number(demotion.Examined)} of ${number(demotion.ToExamine)} chunks examined`);
    } else if (demoted > this.demotedBefore) {
      setText(this.demoting, `demotion has ended: ${number(demoted - this.demotedBefore)} chunks were demoted`);
    }
  }
}

// Returns what the user chose; null if it is no number of the range. A text of digits stays exact.
function chosen(one, input) {
  if (input.type === "checkbox") return input.checked;
  if (!one.least) return input.value;
  const text = input.value.trim();
  if (!/^-?\d+$/.test(text)) return null;
  const value = BigInt(text);
  return value < BigInt(one.least) || value > BigInt(one.most) ? null : text;
}

class DamageCard {
  constructor(view) {
    this.view = view;
    this.about = h("p");
    this.table = h("div", { class: "scroll" });
    this.output = h("p", { class: "small", role: "status" });
    this.button = h("button", { type: "button" }, "List damaged files");
    this.button.addEventListener("click", () =>
      view.act(this.button, this.output, () => api.call(view.volume, "DamagedFiles", "start"), "The list is being made."),
    );
    this.actions = h("div", { class: "actions" }, this.button);
    this.element = card("Damaged files", this.about, this.table, this.actions, this.output);
  }

  draw({ Volume: volume, DamagedFiles: files }) {
    const lost = volume.DamagedChunks + volume.MissingContainers;
    setText(
      this.about,
      lost === 0
        ? `No damage is known. ${number(volume.HealedChunks)} chunks were healed since the mount.`
        : `${number(volume.DamagedChunks)} chunks of files are damaged; ${number(volume.HealedChunks)} were healed since the mount.`,
    );
    this.about.className = lost === 0 ? "soft" : "error";
    this.actions.hidden = !files;
    const list = files?.LastList ?? [];
    if (!files || !files.LastEnded) {
      this.table.replaceChildren();
      return;
    }
    const row = (file) =>
      h("tr", {}, h("td", { class: "path" }, file.paths || `inode ${file.inode}, without a name`), h("td", { class: "number" }, bytes(file.damagedBytes)), h("td", { class: "number" }, number(file.firstOffset)));
    this.table.replaceChildren(
      h("p", { class: "small soft" }, `List of ${files.LastEnded.replace("T", " ").replace("Z", " UTC")}: ${number(files.LastFiles)} files, ${bytes(files.LastBytes)}`),
      list.length > 0 &&
        h(
          "table",
          {},
          h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "file"), h("th", { scope: "col", class: "number" }, "damaged"), h("th", { scope: "col", class: "number" }, "from offset"))),
          h("tbody", {}, list.slice(0, 200).map(row)),
        ) || "",
    );
  }
}

class ExplainCard {
  constructor(view) {
    this.view = view;
    this.input = h("input", { id: "explain-path", autocomplete: "off", spellcheck: "false", placeholder: "folder/file", required: true });
    this.output = h("p", { class: "small", role: "status" });
    this.result = h("div", { class: "picture" });
    const button = h("button", { class: "main" }, "Explain");
    const form = h(
      "form",
      {
        onsubmit: (event) => {
          event.preventDefault();
          view.act(button, this.output, () => this.explain(), "");
        },
      },
      h("label", { for: "explain-path", class: "small soft" }, "A file, by its path from the volume's root"),
      h("div", { class: "inline" }, this.input, button),
    );
    this.element = card("Explain a file", form, this.output, this.result);
    this.element.classList.add("wide");
  }

  async explain() {
    this.result.replaceChildren();
    const mount = this.view.volume.mountPoint;
    const path = this.input.value.startsWith(`${mount}/`) ? this.input.value.slice(mount.length + 1) : this.input.value;
    const file = await api.call(this.view.volume, "Files", "explain", path);
    const hasCopies = file.ssdBytes > 0;
    this.result.replaceChildren(
      tiles([
        ["data", bytes(file.bytes)],
        ["chunks", number(file.chunks)],
        ["containers wanted", number(file.containers)],
        ["little used of them", number(file.sparseContainers)],
        ["on the SSD", percent(file.ssdBytes, file.bytes)],
        ["disk requests", hasCopies ? `${number(file.diskRequestsWithSsd)} of ${number(file.diskRequests)}` : number(file.diskRequests)],
        ["predicted from disk", `${decimal(file.diskMbPerSecond)} MB/s`],
        ...(hasCopies ? [["with the SSD", `${decimal(file.withSsdMbPerSecond)} MB/s`]] : []),
      ]),
      h("h3", {}, "From left to right: the file. From below: its containers, in the order in which they were stored. A line is read fast; scattered points are seeks."),
      filePicture(file, COLUMNS, bytes),
      h("ul", { class: "legend" }, h("li", { class: "disk" }, "from the disk"), h("li", { class: "ssd" }, "copy on the SSD")),
    );
  }
}
