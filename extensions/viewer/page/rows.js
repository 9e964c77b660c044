/* Rows by what they are, and words for them. */

import { countUntil } from "./search.js";

/** The rows of each kind and of each type of message; for each send its receives, as far as they are known. */
export class Rows {
  constructor(film) {
    this.film = film;
    this.ofKind = new Map(film.kinds.map((kind) => [kind, []]));
    const lists = film.kinds.map((kind) => this.ofKind.get(kind));
    for (let row = 0; row < film.count; row++) lists[film.columns.kind[row]].push(row);
    this.sends = Uint32Array.from(this.ofKind.get("send") ?? []);
    this.sendTimes = Float64Array.from(this.sends, (row) => film.time[row]);
    this.#chainReceives();
  }

  /** The rows of the receives of a send, the last first. */
  *receivesOf(send) {
    for (let row = this.received[send]; row; row = this.before[row]) yield row;
  }

  /** When a send arrived anywhere; NaN if it did not, or if nobody knows. */
  arrivalOf(send) {
    const row = this.received[send];
    return row ? this.film.time[row] : NaN;
  }

  /** Sends after `from` and until `to`, as positions in `sends`: [first, behind the last]. */
  sendsBetween(from, to) { return [countUntil(this.sendTimes, from), countUntil(this.sendTimes, to)]; }

  /** The next row of a kind, or "send TYPE", after `time`, or the last before it; -1 if there is none. */
  step(kind, time, forth) {
    const { film } = this, [name, type] = kind.split(" ");
    const rows = this.ofKind.get(name) ?? [];
    const fits = (row) => (!type || film.typeOf(row) === type) && (forth ? film.time[row] > time : film.time[row] < time);
    return (forth ? rows.find(fits) : rows.findLast(fits)) ?? -1;
  }

  #chainReceives() {
    const { film } = this;
    this.received = new Uint32Array(film.count);
    this.before = new Uint32Array(film.receipts ? film.count : 0);
    for (const row of this.ofKind.get("receive") ?? []) {
      const send = film.sendOf(row);
      if (send < 0) continue;
      this.before[row] = this.received[send];
      this.received[send] = row;
    }
  }
}

/** How many of the sorted `rows` have happened at a time. */
export function countRowsUntil(film, rows, time) {
  const behind = countUntil(film.time, time);
  return countUntil(rows, behind - 1);
}

export function timeText(seconds) { return seconds.toFixed(6); }

/** A row in words. */
export function describe(film, row) {
  const node = film.nameOf(film.nodeOf(row)), peer = film.peerOf(row), name = film.nameOf(peer);
  const type = film.typeOf(row), content = film.textOf(row) || type, detail = film.detailOf(row);
  const note = film.notifications[film.noteOf(row)] ?? "";
  const reason = detail ? `: ${detail}` : "";
  const words = {
    send: () => `${node} → ${peer < 0 ? "all" : name}  ${content}`,
    receive: () => `${node} hears ${name}  ${content}`,
    publish: () => `${node} publishes ${note}`,
    deliver: () => `${node} delivers ${note} after ${film.hopsOf(row)} hops`,
    subscribe: () => `${node} subscribes ${detail}`,
    unsubscribe: () => `${node} unsubscribes ${detail}`,
    route: () => `${node} takes ${note} on for ${detail}`,
    keep: () => `${node} keeps ${note}`,
    release: () => `${node} no longer keeps ${note}${reason}`,
    store: () => `${node} stores ${note} for ${name}`,
    replay: () => `${node} replays ${note} for ${name}`,
    migrate: () => (peer < 0 ? `${node} has no parent` : `${node} has the parent ${name}`),
    drop: () => `${node} drops ${[type || note, peer < 0 ? "" : `for ${name}`].filter(Boolean).join(" ")}${reason}`,
    crash: () => `${node} crashes`,
    freeze: () => `${node} freezes`,
    recover: () => `${node} recovers`,
    unreachable: () => `the conductor has lost ${node}`,
    reachable: () => `the conductor has ${node} back`,
    detach: () => `${node} leaves its broker`,
    attach: () => `${node} is back`,
    cache: () => `${node} caches ${note}`,
    forget: () => `${node} forgets ${note}${reason}`,
    answer: () => `${node} gets ${note}, which it asked for`,
    overlay: () => `${node} has the place ${detail}`,
    serve: () => `${node} serves ${type} of ${name}`,
  };
  return words[film.kindOf(row)]?.() ?? `${node} ${film.kindOf(row)} ${[type, note, detail].filter(Boolean).join(" ")}`;
}
