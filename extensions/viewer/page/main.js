/* Puts the page together: what is chosen, the clock, and who reacts to what. */

import { byId, element, replace } from "./dom.js";
import { readFilm } from "./film.js";
import { Live } from "./live.js";
import { shapeSample, showLegend, showRemarks } from "./legend.js";
import { lookOfTypes, palette, treePalette } from "./looks.js";
import { Moments } from "./moments.js";
import { showHappenings, showNode, showWays } from "./panels.js";
import { regularTypes } from "./regular.js";
import { Rows, countRowsUntil, timeText } from "./rows.js";
import { Stage } from "./stage.js";
import { drawStrip } from "./strip.js";
import { waysOf } from "./ways.js";

const SPEEDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 2, 5, 10, 20, 50];
/** The panels of words are renewed so often while the film plays. */
const PANELS_MS = 400;
const COUNTS = new Intl.NumberFormat("en", { notation: "compact" });
const KEYS = [
  ["Space", "play, pause"], ["← →", "a second of your time back, forth"], [", .", "previous, next event of the chosen kind"],
  ["+ −", "faster, slower"], ["Home End", "start, end"], ["n N", "next, previous node"], ["Esc", "choose nothing"], ["t", "light, dark"],
];

class Page {
  constructor(films) {
    this.views = films.map(makeView);
    nameViews(this.views);
    this.end = Math.max(...films.map((film) => film.end));
    /** Messages sent at regular intervals are hidden at first, unless there are no others, and so are those that a
        session's scenario hides. */
    this.regular = new Set(this.views.flatMap(({ film, rows }) => regularTypes(film, rows)));
    const others = typesByCount(this.views).filter(([type, count]) => count && !this.regular.has(type));
    this.hidden = new Set([...(others.length ? this.regular : []), ...films.flatMap((film) => film.live?.hide ?? [])]);
    /** The number of the chosen notification in each film. */
    this.noteNumbers = new Map();
    this.choice = {
      time: 0, speed: 1, node: -1, note: "", way: -1, onlyNode: false, onlyNote: false, links: true, names: true, areas: true,
      looks: lookOfTypes(typesByCount(this.views).map(([type]) => type)),
      shows: (film, row) => this.shows(film, row),
    };
    this.playing = false;
    this.act = {
      goTo: (time) => this.goTo(time),
      chooseRow: (film, row) => this.chooseRow(film, row),
      chooseWay: (way) => this.choose({ way: this.choice.way === way ? -1 : way }),
      shows: this.choice.shows,
    };
  }

  start() {
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
    for (const view of this.views) this.addStage(view);
    this.fillLists();
    this.listen();
    byId("app").hidden = false;
    byId("loading").hidden = true;
    this.resize();
  }

  /** Shows another film in place of the first. */
  adopt(film) {
    const [view] = this.views, { stage, words, name } = view;
    Object.assign(view, makeView(film), { stage, words, name, strip: undefined });
    stage.show(view.film, view.moments, view.rows);
    this.end = film.end;
    this.choice.looks = lookOfTypes(typesByCount(this.views).map(([type]) => type));
    this.fillLists();
    this.showTypes();
    this.follow(this.choice.way);
    byId("node").value = String(this.choice.node);
    this.resize();
  }

  // What is chosen

  shows(film, row) {
    const { choice } = this;
    if (this.hidden.has(film.typeOf(row)) || film.live?.hide.includes(film.kindOf(row))) return false;
    if (choice.onlyNode && choice.node >= 0 && !concerns(film, row, choice.node)) return false;
    return !(choice.onlyNote && choice.note) || names(film, row, this.noteNumbers.get(film));
  }

  choose(changes) {
    const { choice } = this, before = choice.note;
    Object.assign(choice, changes);
    if (choice.note !== before) this.follow(changes.way ?? -1);
    byId("node").value = String(choice.node);
    byId("note").value = choice.note;
    this.draw();
    this.showWords();
  }

  follow(way) {
    this.choice.way = way;
    for (const view of this.views) {
      const note = view.film.notifications.indexOf(this.choice.note);
      this.noteNumbers.set(view.film, note);
      view.ways = note < 0 ? null : waysOf(view.film, view.rows, note);
    }
  }

  chooseRow(film, row) {
    const note = film.noteOf(row) >= 0 ? film.noteOf(row) : film.carriedBy(row)[0] ?? -1;
    this.choose(note >= 0 ? { node: film.nodeOf(row), note: film.notifications[note] } : { node: film.nodeOf(row) });
  }

  // The clock

  goTo(time) {
    this.choice.time = Math.min(this.end, Math.max(0, time));
    byId("slider").value = String(this.choice.time);
    byId("time").value = timeText(this.choice.time);
    this.draw();
    if (!this.playing) this.showWords();
  }

  play(playing) {
    if (playing && this.choice.time >= this.end) this.goTo(0);
    this.playing = playing;
    byId("play").textContent = playing ? "Pause" : "Play";
    this.showWords();
    if (playing) requestAnimationFrame((now) => this.tick(now, { last: now, shown: now, since: now, pictures: 0 }));
  }

  tick(now, clock) {
    if (!this.playing) return;
    this.goTo(this.choice.time + ((now - clock.last) / 1000) * this.choice.speed);
    clock.last = now;
    clock.pictures += 1;
    if (now - clock.shown >= PANELS_MS) { clock.shown = now; this.showWords(); }
    if (now - clock.since >= 1000) {
      byId("rate").textContent = `${Math.round((clock.pictures * 1000) / (now - clock.since))} pictures/s`;
      Object.assign(clock, { since: now, pictures: 0 });
    }
    if (this.choice.time >= this.end) this.play(false);
    else requestAnimationFrame((next) => this.tick(next, clock));
  }

  step(forth) {
    const kind = byId("step-kind").value;
    const times = this.views.map(({ film, rows }) => film.time[rows.step(kind, this.choice.time, forth)]);
    const found = times.filter((time) => time !== undefined);
    if (found.length) this.goTo(forth ? Math.min(...found) : Math.max(...found));
  }

  setSpeed(speed) {
    this.choice.speed = speed;
    byId("speed").value = String(speed);
  }

  faster(steps) {
    const next = SPEEDS.indexOf(this.choice.speed) + steps;
    this.setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, next))]);
    this.draw();
  }

  // What is drawn

  addStage(view) {
    const canvas = element("canvas", { tabIndex: 0 });
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `The network of ${view.film.title}`);
    view.words = element("span");
    byId("stages").append(element("figure", {},
      element("figcaption", { title: view.film.title }, element("b", {}, this.views.length > 1 ? view.name : view.film.title), view.words),
      element("div", { className: "ground" }, canvas)));
    view.stage = new Stage(canvas, view.film, view.moments, view.rows, this.choice);
    canvas.onclick = (event) => this.clickOn(view, event.offsetX, event.offsetY);
  }

  clickOn(view, x, y) {
    const { node, row } = view.stage.hit(x, y);
    if (node !== undefined) this.choose({ node });
    else if (row !== undefined) this.chooseRow(view.film, row);
  }

  draw() {
    this.live?.mark(this.choice.time);
    for (const { stage, ways } of this.views) {
      const { way } = this.choice;
      stage.draw(this.choice.time, ways ? ways.ways.filter((one) => way < 0 || one.subscriber === way) : [], way >= 0);
    }
  }

  showWords() {
    const { views, choice, act } = this;
    for (const view of views) view.words.textContent = caption(view, choice.time);
    showNode(byId("node-state"), views, choice, act);
    showWays(byId("note-ways"), views, choice, act);
    showHappenings(byId("happenings"), views, choice, act);
  }

  resize() {
    for (const { stage } of this.views) stage.resize();
    byId("strip").width = byId("strip").clientWidth;
    drawStrip(byId("strip"), this.views, this.choice.theme, this.end);
    this.goTo(this.choice.time);
    this.showWords();
  }

  setTheme(dark) {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const plain = Object.fromEntries(["ground", "text", "faint", "line", "link", "accent", "focus"].map((name) => [name, colour(name)]));
    this.choice.theme = { ...plain, dark, palette: palette(dark), trees: treePalette(dark) };
    this.showTypes();
    showLegend(byId("legend"), this.views, this.choice.theme);
    showRemarks(byId("remarks"), this.views);
  }

  showTypes() {
    const { theme, looks } = this.choice;
    replace(byId("types"), ...typesByCount(this.views).map(([type, count]) => {
      const box = element("input", { type: "checkbox", checked: !this.hidden.has(type), onchange: () => this.toggle(type, box.checked) });
      const { shape, colour } = looks.get(type);
      const remark = this.regular.has(type) ? { title: "sent at regular intervals, so not shown at first" } : {};
      return element("label", remark, box, shapeSample({ shape, fill: theme.palette[colour] }), type, element("small", {}, COUNTS.format(count)));
    }));
  }

  toggle(type, shown) {
    if (shown) this.hidden.delete(type); else this.hidden.add(type);
    this.choose({});
  }

  toggleAll(shown) {
    this.hidden = new Set(shown ? [] : this.choice.looks.keys());
    this.showTypes();
    this.choose({});
  }

  // What can be chosen

  fillLists() {
    const option = (value, text) => element("option", { value: String(value) }, text);
    const nodes = Math.max(...this.views.map(({ film }) => film.nodes));
    const label = (node) => {
      const { film } = this.views.find((view) => node < view.film.nodes);
      return `${film.nameOf(node)} ${film.roles[node]}`;
    };
    replace(byId("node"), option(-1, "none"), ...Array.from({ length: nodes }, (_, node) => option(node, label(node))));
    const notes = new Set(this.views.flatMap(({ film }) => film.notifications));
    replace(byId("notes"), ...[...notes].map((note) => element("option", { value: note })));
    replace(byId("step-kind"), ...kindsOf(this.views).map((kind) => option(kind, kind)));
    replace(byId("speed"), ...SPEEDS.map((speed) => option(speed, `× ${speed}`)));
    this.setSpeed(this.choice.speed);
    byId("slider").max = String(this.end);
    replace(byId("keys"), element("dl", {}, ...KEYS.flatMap(([key, does]) => [element("dt", {}, key), element("dd", {}, does)])));
    byId("areas-part").hidden = !this.views.some(({ moments }) => moments.areas.some((one) => one.times.length));
    replace(byId("notices"), ...this.notices().map((text) => element("p", {}, text)));
  }

  notices() {
    const [first, second] = this.views.map(({ film }) => film);
    return second && !moveAlike(first, second) ? ["The nodes of these two runs move differently: compare them with care."] : [];
  }

  listen() {
    byId("slider").oninput = () => this.goTo(Number(byId("slider").value));
    byId("time").onchange = () => this.goTo(Number.parseFloat(byId("time").value) || this.choice.time);
    byId("play").onclick = () => this.play(!this.playing);
    byId("back").onclick = () => this.step(false);
    byId("forth").onclick = () => this.step(true);
    byId("speed").onchange = () => { this.setSpeed(Number(byId("speed").value)); this.draw(); };
    byId("theme").onclick = () => this.changeTheme();
    byId("all-types").onclick = () => this.toggleAll(true);
    byId("no-types").onclick = () => this.toggleAll(false);
    byId("node").onchange = () => this.choose({ node: Number(byId("node").value) });
    byId("note").onchange = () => this.choose({ note: byId("note").value.trim() });
    byId("only-node").onchange = () => this.choose({ onlyNode: byId("only-node").checked });
    byId("only-note").onchange = () => this.choose({ onlyNote: byId("only-note").checked });
    byId("links").onchange = () => this.choose({ links: byId("links").checked });
    byId("areas").onchange = () => this.choose({ areas: byId("areas").checked });
    byId("names").onchange = () => this.choose({ names: byId("names").checked });
    addEventListener("keydown", (event) => this.press(event));
    addEventListener("resize", () => this.resize());
  }

  changeTheme() {
    this.setTheme(!this.choice.theme.dark);
    this.resize();
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || takesKeys(event.target, event.key)) return;
    const second = this.choice.speed, last = Math.max(...this.views.map(({ film }) => film.nodes)) - 1;
    const node = (steps) => this.choose({ node: Math.min(last, Math.max(-1, this.choice.node + steps)) });
    const does = {
      " ": () => this.play(!this.playing), ArrowLeft: () => this.goTo(this.choice.time - second), ArrowRight: () => this.goTo(this.choice.time + second),
      ",": () => this.step(false), ".": () => this.step(true), "+": () => this.faster(1), "-": () => this.faster(-1),
      Home: () => this.goTo(0), End: () => this.goTo(this.end), n: () => node(1), N: () => node(-1),
      Escape: () => this.choose({ node: -1, note: "" }), t: () => this.changeTheme(),
    }[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  }
}

/** A film with what is worked out of it once. */
function makeView(film) {
  const rows = new Rows(film), all = everyRow(film), ofNode = new Map();
  const rowsOf = (node) => {
    if (!ofNode.has(node)) ofNode.set(node, all.filter((row) => concerns(film, row, node)));
    return ofNode.get(node);
  };
  return { film, rows, moments: new Moments(film), rowsOf, everyRow: all, ways: null };
}

/** Names each run by what sets it apart from the others. */
function nameViews(views) {
  const parts = views.map(({ film }) => film.title.split(" "));
  views.forEach((view, i) => {
    const own = parts[i].filter((part) => !parts.every((others) => others.includes(part)));
    view.name = own.join(" ") || `run ${i + 1}`;
  });
}

function everyRow(film) {
  const rows = new Uint32Array(film.count);
  for (let row = 0; row < film.count; row++) rows[row] = row;
  return rows;
}

function concerns(film, row, node) { return film.nodeOf(row) === node || film.peerOf(row) === node; }

function names(film, row, note) { return film.noteOf(row) === note || film.carriedBy(row).includes(note); }

function typesByCount(views) {
  const counts = new Map();
  for (const { film, rows } of views) for (const row of rows.sends) counts.set(film.typeOf(row), (counts.get(film.typeOf(row)) ?? 0) + 1);
  for (const { film } of views) for (const type of film.types) if (!counts.has(type)) counts.set(type, 0);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

/** What can be stepped to: kinds of rows, then sends by type. */
function kindsOf(views) {
  const kinds = new Set(views.flatMap(({ film }) => film.kinds)), first = ["publish", "deliver", "migrate", "store", "replay"];
  const sorted = [...first.filter((kind) => kinds.has(kind)), ...[...kinds].filter((kind) => !first.includes(kind))];
  return [...sorted, ...typesByCount(views).map(([type]) => `send ${type}`)];
}

function moveAlike(first, second) {
  return ["placeTime", "placeNode", "placeX", "placeY"].every((name) => {
    const [a, b] = [first.columns[name], second.columns[name]];
    return a.length === b.length && a.every((value, i) => value === b[i]);
  });
}

/** Whether the key means something to what has the focus. */
function takesKeys(target, key) {
  if (target.tagName === "SELECT" || target.tagName === "SUMMARY") return key !== "Escape";
  if (target.tagName === "BUTTON") return key === " " || key === "Enter";
  return target.tagName === "INPUT" && (target.type !== "checkbox" || key === " ") && target.type !== "range";
}

function caption({ film, moments, rows, stage }, time) {
  const until = (kind) => countRowsUntil(film, rows.ofKind.get(kind) ?? [], time);
  const parts = [`${until("publish")} published, ${until("deliver")} delivered, ${moments.storedInAll.at(time)} stored`];
  const trees = stage.partitions();
  if (moments.hasTree) parts.push(`${trees.length} ${trees.length === 1 ? "tree" : "trees"}: ${trees.slice(0, 6).map(([root, size]) => `${film.nameOf(root)} leads ${size}`).join(", ") || "none"}`);
  if (stage.underWay) parts.push(`${stage.underWay} ${stage.underWay === 1 ? "message" : "messages"} under way`);
  return parts.join(" · ");
}

async function open() {
  const blocks = [...document.querySelectorAll("script.film")];
  const films = await Promise.all(blocks.map((block) => readFilm(block.textContent)));
  for (const block of blocks) block.remove();
  const page = new Page(films);
  page.start();
  if (films[0].live) {
    page.live = new Live(page);
    page.live.start();
  }
}

open().catch((error) => { document.getElementById("loading").textContent = `This page cannot be shown: ${error.message}`; });
