/* Routes by the tables of a recorded run: each node's next hop to each destination. */

import { Series } from "./moments.js";

export class Routes {
  constructor(film) {
    this.film = film;
    this.tables = film.recorded ? tablesOf(film) : [];
  }

  /** The hops [from, to] of all routes of a node at a time. */
  of(node, time) {
    const hops = new Map(), next = this.tables.map((table) => table.at(time));
    for (const destination of next[node]?.keys() ?? []) {
      for (let at = node, steps = 0; at !== destination && steps < next.length; steps++) {
        const hop = next[at]?.get(destination);
        if (hop === undefined) break;
        hops.set(`${at}-${hop}`, [at, hop]);
        at = hop;
      }
    }
    return [...hops.values()];
  }
}

/** For each node, the next hop to each destination over time. */
function tablesOf(film) {
  const { lookTime, lookNode, lookListing } = film.columns, { listings, heads, rows } = film.tables;
  const series = Array.from({ length: film.nodes }, () => new Series(null));
  const number = new Map(film.names.map((name, node) => [name, node]));
  const hop = heads.map((head) => head.findIndex((column) => /next/i.test(column)));
  lookListing.forEach((listing, i) => {
    const column = hop[listings[listing][1]];
    if (column < 0) return;
    const lines = Array.from(film.listed[listing], (row) => rows[row]).filter((line) => !line.includes("invalid"));
    series[lookNode[i]].set(lookTime[i] / 1e9, new Map(lines.map((line) => [number.get(line[0]), number.get(line[column])])));
  });
  return series;
}
