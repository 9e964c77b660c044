/* The parts of the page that tell in words what is chosen. */

import { action, element, replace, table, terms } from "./dom.js";
import { countRowsUntil, describe, timeText } from "./rows.js";

/** Rows that a list shows. */
const MOST_ROWS = 40;
/** Identifiers that a queue shows. */
const MOST_IDS = 30;

/** Which of the films a text is about, where there are several. */
const heading = (view, several) => (several ? [element("h4", {}, view.name)] : []);

export function showNode(parent, views, choice, act) {
  const parts = choice.node < 0 ? ["None chosen: click one, or use the list."]
    : views.flatMap((view) => [...heading(view, views.length > 1), ...nodeParts(view, choice, act)]);
  replace(parent, ...parts);
}

function nodeParts(view, { node, time }, act) {
  const { film, moments } = view;
  if (node >= film.nodes) return ["There is no such node in this run."];
  const [x, y] = moments.position(node, time), parent = moments.parents[node].at(time);
  const children = moments.parents.flatMap((one, child) => (one.at(time) === node ? [film.nameOf(child)] : []));
  const tree = moments.hasTree ? [["parent", film.nameOf(parent)], ["children", children.join(" ") || "–"]] : [];
  return [
    terms([
      ["roles", film.roles[node] || "none"],
      ["state", moments.states[node].at(time)],
      ...(film.placed ? [["place", `${x.toFixed(1)} m, ${y.toFixed(1)} m`]] : []),
      ...tree,
      ["filters", filtersOf(view, node, time).join("; ") || "–"],
      ["so far", counts(view, node, time)],
    ]),
    ...queueParts(view, node, time),
    ...listingParts(film, node, time),
    element("h4", {}, "Its last messages and events"),
    rowList(film, view.rowsOf(node), time, act),
  ];
}

function filtersOf({ film, rows }, node, time) {
  const filters = new Set(), of = (kind) => rows.ofKind.get(kind) ?? [];
  for (const row of [...of("subscribe"), ...of("unsubscribe")].sort((a, b) => a - b)) {
    if (film.nodeOf(row) !== node || film.time[row] > time) continue;
    if (film.kindOf(row) === "subscribe") filters.add(film.detailOf(row)); else filters.delete(film.detailOf(row));
  }
  return [...filters];
}

function counts(view, node, time) {
  const found = new Map();
  for (const row of view.rowsOf(node)) {
    if (view.film.time[row] > time) break;
    if (view.film.nodeOf(row) === node) found.set(view.film.kindOf(row), (found.get(view.film.kindOf(row)) ?? 0) + 1);
  }
  return [...found].map(([kind, count]) => `${count} ${kind}`).join(", ") || "nothing";
}

function queueParts({ film, moments }, node, time) {
  const queues = [...moments.queues(node, time)];
  if (!queues.length) return [];
  const rows = queues.map(([subscriber, notes]) => [film.nameOf(subscriber), String(notes.size), idList(film, notes)]);
  return [element("h4", {}, "Stored"), element("div", { className: "scroll" }, table(["for", "", "notifications"], rows))];
}

function idList(film, notes) {
  const ids = [...notes].slice(0, MOST_IDS).map((note) => film.notifications[note]);
  return ids.join(" ") + (notes.size > MOST_IDS ? " …" : "");
}

function listingParts(film, node, time) {
  if (!film.recorded) return [element("p", { className: "faint" }, "Routing tables: not in the trace of this run. Make it with --record, or show it with --again.")];
  return film.listingsOf(node, time).flatMap(([at, name, head, lines]) => [
    element("h4", {}, `${name === "table" ? "Routing table" : name}, as of ${timeText(at)} s`),
    element("div", { className: "scroll listing" }, table(head, lines)),
  ]);
}

/** The last rows until a time, the newest first; a click on one goes there. */
export function rowList(film, rows, time, act) {
  const behind = countRowsUntil(film, rows, time), shown = [];
  for (let i = behind - 1; i >= 0 && shown.length < MOST_ROWS; i--) if (act.shows(film, rows[i])) shown.push(rows[i]);
  return element("ol", { className: "scroll rows" }, ...shown.map((row) => rowItem(film, row, act)));
}

function rowItem(film, row, act) {
  return element("li", {}, action(timeText(film.time[row]), () => act.goTo(film.time[row])), " ",
    action(describe(film, row), () => act.chooseRow(film, row)));
}

/** What happened last, in all runs. */
export function showHappenings(parent, views, choice, act) {
  replace(parent, ...views.flatMap((view) => [
    ...heading(view, views.length > 1), rowList(view.film, view.everyRow, choice.time, act),
  ]));
}

/** Where the chosen notification went, subscriber by subscriber. */
export function showWays(parent, views, choice, act) {
  if (!choice.note) return replace(parent, "None chosen: click a message or a line that names one, or write its name.");
  replace(parent, ...views.flatMap((view) => [...heading(view, views.length > 1), ...wayParts(view, choice, act)]));
}

function wayParts({ film, ways }, choice, act) {
  if (!ways) return ["It is not in this run."];
  const { publish, own } = ways, delivered = ways.ways.filter((way) => way.delivery >= 0).length;
  const begin = publish < 0 ? [] : [`${film.nameOf(film.nodeOf(publish))} publishes it at `, action(timeText(film.time[publish]), () => act.goTo(film.time[publish])), " s. "];
  const known = film.recorded ? "" : " Only its stations are in the trace of this run: hops between them are not known.";
  const said = `${delivered} of ${ways.ways.length} subscribers get it; it was stored ${own.store.length} times.${known}`;
  return [element("p", {}, ...begin, said),
    element("ul", { className: "scroll ways" }, ...ways.ways.map((way) => wayItem(film, way, choice, act)))];
}

function wayItem(film, way, choice, act) {
  const name = action(film.nameOf(way.subscriber), () => act.chooseWay(way.subscriber));
  name.setAttribute("aria-pressed", String(choice.way === way.subscriber));
  const item = element("li", {}, name, ` ${outcome(film, way)}`);
  if (choice.way === way.subscriber) item.append(element("ol", {}, ...way.legs.map((leg) => legItem(film, leg, act))));
  return item;
}

function outcome(film, { delivery, copies, waiting, legs }) {
  if (delivery < 0) {
    const places = waiting.map(([node, since]) => `${film.nameOf(node)} since ${timeText(since)} s`).join(", ");
    return places ? `not delivered; stored at ${places}` : "not delivered";
  }
  const stored = legs.filter((leg) => leg.kind === "stored").reduce((sum, leg) => sum + leg.end - leg.begin, 0);
  const parts = [`at ${timeText(film.time[delivery])} s, ${film.hopsOf(delivery)} hops`];
  if (stored) parts.push(`stored for ${stored.toFixed(3)} s`);
  if (copies > 1) parts.push(`${copies} copies`);
  return parts.join(", ");
}

function legItem(film, leg, act) {
  const words = {
    sent: `${film.nameOf(leg.from)} → ${film.nameOf(leg.to)} ${leg.type}`,
    stored: `stored at ${film.nameOf(leg.from)} for ${(leg.end - leg.begin).toFixed(3)} s, then replayed`,
    station: leg.from === leg.to ? `sent by ${film.nameOf(leg.from)}, which has it again` : `${film.nameOf(leg.from)} ⋯ ${film.nameOf(leg.to)}`,
  };
  return element("li", {}, action(timeText(leg.begin), () => act.goTo(leg.begin)), ` ${words[leg.kind]}`);
}
