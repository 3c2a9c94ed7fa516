// Login, the list of volumes, and which view is shown. The part of the address after # names the volume.

import * as api from "./api.js";
import { shares } from "./charts.js";
import { h, keyed, setText } from "./dom.js";
import { bytes, speed } from "./format.js";
import { pill, VolumeView } from "./volume.js";

const REFRESH_MS = 2000;
const OVERVIEW = {
  Volume: ["Health", "LogicalBytes", "StoredBytes", "ReclaimableBytes", "DeviceFreeBytes", "ReadBytes", "WrittenBytes", "DamagedChunks"],
  Jobs: ["Latest"],
};

const main = document.getElementById("main");
const notice = document.getElementById("notice");

let view = null;

class LoginView {
  constructor() {
    this.error = h("p", { class: "error", role: "alert" });
    const name = h("input", { name: "user", autocomplete: "username", required: true, autocapitalize: "none", spellcheck: "false" });
    const password = h("input", { name: "password", type: "password", autocomplete: "current-password", required: true });
    const button = h("button", { class: "main" }, "Log in");
    const login = async (event) => {
      event.preventDefault();
      button.disabled = true;
      setText(this.error, "");
      try {
        await api.login(name.value.trim(), password.value);
        route();
      } catch (failure) {
        setText(this.error, failure.message);
        password.select();
      } finally {
        button.disabled = false;
      }
    };
    this.element = h(
      "form",
      { class: "card login", onsubmit: login },
      h("h1", {}, "Log in"),
      h("label", {}, h("span", {}, "User"), name),
      h("label", {}, h("span", {}, "Password"), password),
      button,
      this.error,
    );
    this.focus = name;
  }

  async refresh() {}
}

// Each volume as a card.
class OverviewView {
  constructor() {
    this.cards = h("div", { class: "grid" });
    this.empty = h("p", { class: "soft", hidden: true }, "There are no volumes on this machine. mkfs.sdfs makes one.");
    this.element = h("div", {}, h("div", { class: "head" }, h("h1", {}, "Volumes")), this.empty, this.cards);
    this.before = new Map();
  }

  async refresh() {
    const { volumes } = await api.volumes();
    const known = await Promise.all(
      volumes.map(async (volume) => ({ volume, figures: await figures(volume), time: performance.now() })),
    );
    this.empty.hidden = volumes.length > 0;
    keyed(
      this.cards,
      known,
      (one) => one.volume.name,
      (one) => h("a", { class: "card", href: `#/${encodeURIComponent(one.volume.name)}` }),
      (card, one) => this.draw(card, one),
    );
    this.before = new Map(known.map((one) => [one.volume.name, one]));
  }

  draw(card, { volume, figures: { Volume: now, Jobs: jobs }, time }) {
    const title = h("div", { class: "title" }, h("h2", {}, volume.name), pill(now?.Health ?? "unknown"));
    if (!now) {
      card.replaceChildren(title, h("p", { class: "soft small" }, [volume.state, volume.mountPoint].filter(Boolean).join(" · ")));
      return;
    }
    const before = this.before.get(volume.name);
    const seconds = before ? (time - before.time) / 1000 : 0;
    const rate = (name) => (seconds > 0 && before.figures.Volume ? (now[name] - before.figures.Volume[name]) / seconds : 0);
    const running = (jobs?.Latest ?? []).filter((job) => job.state === "running").map((job) => job.kind);
    card.replaceChildren(
      title,
      h("p", { class: "soft small" }, volume.mountPoint ?? "mounted by OpenDedup SDFS"),
      shares(
        "Space",
        [
          { name: "stored", class: "disk", value: now.StoredBytes - now.ReclaimableBytes },
          { name: "garbage", class: "garbage", value: now.ReclaimableBytes },
          { name: "free", class: "free", value: now.DeviceFreeBytes },
        ],
        bytes,
      ),
      h("p", { class: "small soft" }, `reading ${speed(rate("ReadBytes"))}, writing ${speed(rate("WrittenBytes"))}`),
      h("p", { class: "small soft" }, running.length ? `running: ${running.join(", ")}` : "no job is running"),
    );
  }
}

async function figures(volume) {
  if (volume.state !== "mounted") return {};
  try {
    return await api.read(volume, OVERVIEW);
  } catch (failure) {
    if (failure.status === 401) throw failure;
    return {};
  }
}

class NoVolumeView {
  constructor(name, state) {
    this.name = name;
    this.state = state;
    this.element = h(
      "div",
      { class: "head" },
      h("h1", {}, name),
      pill("unknown"),
      h("p", { class: "where" }, h("a", { href: "#/" }, "All volumes"), ` · ${state}`),
    );
  }

  async refresh() {
    const { volumes } = await api.volumes();
    if (volumes.find((one) => one.name === this.name)?.state === "mounted") route();
  }
}

async function viewOf(name) {
  if (!api.user()) return new LoginView();
  if (!name) return new OverviewView();
  const { volumes } = await api.volumes();
  const volume = volumes.find((one) => one.name === name);
  return volume?.state === "mounted"
    ? new VolumeView(volume, api.user().role === "change")
    : new NoVolumeView(name, volume?.state ?? "there is no such volume");
}

let routes = 0;

async function route() {
  const number = ++routes;
  let next;
  try {
    next = await viewOf(decodeURIComponent(location.hash.replace(/^#\/?/, "")));
  } catch (failure) {
    told(failure);
    next = api.user() ? null : new LoginView();
  }
  if (number !== routes || !next) return;
  view = next;
  document.title = view.volume ? `${view.volume.name} – SDFS console` : "SDFS console";
  document.getElementById("who").hidden = !api.user();
  setText(document.getElementById("user"), api.user() ? `${api.user().user}, may ${api.user().role}` : "");
  main.replaceChildren(view.element);
  (view.focus ?? main).focus();
  refresh();
}

// Says what failed. Without a session only the login helps.
function told(failure) {
  if (failure.status === 401) {
    api.forget();
    setText(notice, "");
  } else {
    setText(notice, failure.message);
  }
}

let refreshing = false;

async function refresh() {
  if (refreshing || !view || document.hidden) return;
  refreshing = true;
  const shown = view;
  try {
    await shown.refresh();
    setText(notice, "");
  } catch (failure) {
    told(failure);
    if (!api.user() && !(view instanceof LoginView)) {
      route();
    } else if (shown === view && view.volume && failure.status === 503) {
      view = new NoVolumeView(view.volume.name, failure.message);
      main.replaceChildren(view.element);
    }
  } finally {
    refreshing = false;
    if (shown !== view) setTimeout(refresh, 0);
  }
}

document.getElementById("logout").addEventListener("click", async () => {
  await api.logout().catch(told);
  location.hash = "#/";
  route();
});
window.addEventListener("hashchange", route);
document.addEventListener("visibilitychange", refresh);
setInterval(refresh, REFRESH_MS);
route();
