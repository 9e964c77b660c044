/* What is the case at a moment. Each thing that changes is a series, so that any moment is found at once. */

import { areaOf } from "./areas.js";
import { countUntil } from "./search.js";

/** Why a queue gives a notification up. */
const STORAGE_FULL = "storage full";

/** Values over time: `at` is the last one set at or before a time. */
export class Series {
  constructor(initial) { this.initial = initial; this.times = []; this.values = []; }
  set(time, value) { this.times.push(time); this.values.push(value); }
  at(time) { return this.values[countUntil(this.times, time) - 1] ?? this.initial; }
  get last() { return this.values.at(-1) ?? this.initial; }
}

export class Moments {
  constructor(film) {
    this.film = film;
    this.parents = seriesOf(film, -1);
    this.states = seriesOf(film, "up");
    this.stored = seriesOf(film, 0);
    this.storedInAll = new Series(0);
    this.areas = seriesOf(film, []);
    this.beliefs = beliefSeries(film);
    this.hasTree = film.kinds.includes("migrate");
    this.#follow();
    this.#place();
    this.links = linkSeries(film);
  }

  /** Metres. */
  position(node, time) {
    const { times, xs, ys } = this.places[node];
    const next = countUntil(times, time);
    if (next === 0) return times.length ? [xs[0], ys[0]] : [0, 0];
    if (next === times.length) return [xs[next - 1], ys[next - 1]];
    const share = (time - times[next - 1]) / (times[next] - times[next - 1]);
    return [xs[next - 1] + share * (xs[next] - xs[next - 1]), ys[next - 1] + share * (ys[next] - ys[next - 1])];
  }

  /** The root above each node that has a parent or a child; -1 for others, and for those in a circle of parents. */
  roots(time) {
    const parents = this.parents.map((one) => one.at(time));
    const hasChild = new Set(parents);
    return parents.map((parent, node) => (parent < 0 && !hasChild.has(node) ? -1 : rootAbove(node, parents)));
  }

  /** What a node stores: identifiers of notifications by subscriber. */
  queues(node, time) {
    const { film } = this, queues = new Map();
    for (const row of this.queueRows[node]) {
      if (film.time[row] > time) break;
      applyToQueues(film, row, queues);
    }
    return queues;
  }

  #follow() {
    const { film } = this;
    this.queueRows = Array.from({ length: film.nodes }, () => []);
    const sizes = new Sizes(film.nodes);
    const handlers = film.kinds.map((kind) => this.#handler(kind, sizes));
    for (let row = 0; row < film.count; row++) handlers[film.columns.kind[row]]?.(row, film.nodeOf(row), film.time[row]);
  }

  #handler(kind, sizes) {
    const { film } = this;
    const resize = (row, node, time) => {
      this.queueRows[node].push(row);
      const before = sizes.of(node), after = sizes.apply(film, row);
      if (after === before) return;
      this.stored[node].set(time, after);
      this.storedInAll.set(time, this.storedInAll.last + after - before);
    };
    const state = (name) => (row, node, time) => this.states[node].set(time, name);
    const handlers = {
      migrate: (row, node, time) => this.parents[node].set(time, film.peerOf(row)),
      store: resize,
      replay: resize,
      drop: (row, node, time) => { if (film.detailOf(row) === STORAGE_FULL) resize(row, node, time); },
      crash: (row, node, time) => {
        this.parents[node].set(time, -1);
        this.states[node].set(time, "crashed");
        resize(row, node, time);
      },
      subscribe: (row, node, time) => {
        const area = areaOf(film.detailOf(row));
        if (area) this.areas[node].set(time, [...this.areas[node].last, { ...area, filter: film.detailOf(row) }]);
      },
      unsubscribe: (row, node, time) => {
        const areas = this.areas[node].last;
        if (areas.length) this.areas[node].set(time, areas.filter(({ filter }) => filter !== film.detailOf(row)));
      },
      freeze: state("frozen"),
      recover: state("up"),
    };
    return handlers[kind];
  }

  #place() {
    const { placeTime, placeNode, placeX, placeY } = this.film.columns;
    this.places = Array.from({ length: this.film.nodes }, () => ({ times: [], xs: [], ys: [] }));
    placeTime.forEach((time, i) => {
      const place = this.places[placeNode[i]];
      place.times.push(time / 1e9);
      place.xs.push(placeX[i] / 1000);
      place.ys.push(placeY[i] / 1000);
    });
  }
}

function seriesOf(film, initial) {
  return Array.from({ length: film.nodes }, () => new Series(initial));
}

/** Sizes of queues while the film is followed: sets of (subscriber, notification). */
class Sizes {
  constructor(nodes) { this.sets = Array.from({ length: nodes }, () => new Set()); }
  of(node) { return this.sets[node].size; }
  apply(film, row) {
    const set = this.sets[film.nodeOf(row)], key = film.peerOf(row) * film.notifications.length + film.noteOf(row);
    const kind = film.kindOf(row);
    if (kind === "store") set.add(key);
    else if (kind === "crash") set.clear();
    else set.delete(key);
    return set.size;
  }
}

function applyToQueues(film, row, queues) {
  const kind = film.kindOf(row), subscriber = film.peerOf(row), note = film.noteOf(row);
  if (kind === "crash") queues.clear();
  else if (kind === "store") queues.set(subscriber, (queues.get(subscriber) ?? new Set()).add(note));
  else {
    queues.get(subscriber)?.delete(note);
    if (!queues.get(subscriber)?.size) queues.delete(subscriber);
  }
}

function rootAbove(node, parents) {
  for (let steps = 0; steps <= parents.length; steps++) {
    if (parents[node] < 0) return node;
    node = parents[node];
  }
  return -1;
}

/** For a given graph, whether each pair is linked, by "a-b" with a < b. */
function linkSeries(film) {
  const { linkTime, linkA, linkB, linkUp } = film.columns, links = new Map();
  linkTime.forEach((time, i) => {
    const [a, b] = [Math.min(linkA[i], linkB[i]), Math.max(linkA[i], linkB[i])], key = `${a}-${b}`;
    if (!links.has(key)) links.set(key, { a, b, up: new Series(0) });
    links.get(key).up.set(time / 1e9, linkUp[i]);
  });
  return [...links.values()];
}

/** Where each node believes to be (m): the last fix of its receiver. */
function beliefSeries(film) {
  const { beliefTime, beliefNode, beliefX, beliefY } = film.columns, series = seriesOf(film, null);
  const metres = (value) => value / 1000 - film.beliefOrigin;
  beliefTime.forEach((time, i) => series[beliefNode[i]].set(time / 1e9, [metres(beliefX[i]), metres(beliefY[i])]));
  return series;
}

/** Pairs of nodes that are linked at a time, given where they are. */
export function linkedPairs(moments, time, positions) {
  const { film } = moments, group = groupsAt(film, time);
  const apart = (a, b) => group[a] !== group[b] || isCrashed(moments, a, time) || isCrashed(moments, b, time);
  if (film.links.kind === "graph") {
    return moments.links.filter(({ a, b, up }) => up.at(time) && !apart(a, b)).map(({ a, b }) => [a, b]);
  }
  return film.links.kind === "distance" ? nearPairs(film, positions).filter(([a, b]) => !apart(a, b)) : [];
}

function isCrashed(moments, node, time) { return moments.states[node].at(time) === "crashed"; }

function groupsAt(film, time) {
  return film.links.partitions.filter(([at]) => at <= time).at(-1)?.[1] ?? [];
}

/** By distance; with given path losses by the distance at which the mean loss is as great. */
function nearPairs(film, positions) {
  const pairs = [], { reach, given, cells } = film.links;
  const place = (node) => (cells ? cellOf(film, positions[node]) : node);
  const losses = new Map(given.map(([a, b, metres]) => [`${a}-${b}`, metres]));
  for (let a = 0; a < film.nodes; a++) {
    for (let b = a + 1; b < film.nodes; b++) {
      const apart = Math.hypot(positions[a][0] - positions[b][0], positions[a][1] - positions[b][1]);
      const metres = losses.size ? losses.get(`${place(a)}-${place(b)}`) ?? apart : apart;
      if (metres <= Math.min(reach[a], reach[b])) pairs.push([a, b]);
    }
  }
  return pairs;
}

function cellOf({ field, links: { cells } }, place) {
  const [x, y] = place.map((one, axis) => Math.min(cells[axis] - 1, Math.floor((one / field[axis]) * cells[axis])));
  return y * cells[0] + x;
}
