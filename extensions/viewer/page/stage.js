/* Draws one film on its canvas, as it is at a moment. */

import { drawAreas } from "./areas.js";
import { fillInner, lookOfRoles, trace, traceStar } from "./looks.js";
import { linkedPairs } from "./moments.js";
import { Routes } from "./routes.js";

/** How long a message flies at least, in seconds of who looks. */
const FLIGHT_S = 0.4;
/** Messages that arrive later than this after they were sent are drawn for so long only. */
const LONGEST_FLIGHT_S = 1;
/** Messages drawn at once; of more, every second, third, ... is. */
const MOST_FLIGHTS = 500;
const MARGIN = 40, NODE = 7, MESSAGE = 4.5, NEAR = 14;
/** From the places to the frame around them. */
const PAD = 20;
const FONT = "11px system-ui, 'DejaVu Sans', sans-serif", COUNT_FONT = "bold 14px system-ui, 'DejaVu Sans', sans-serif";
/** Of more nodes labels are written without looking for room. */
const MOST_LABELS = 150;

export class Stage {
  /** `choice` is what is chosen on the page: see main.js. */
  constructor(canvas, film, moments, rows, choice) {
    Object.assign(this, { canvas, choice });
    this.context = canvas.getContext("2d");
    this.flights = [];
    this.underWay = 0;
    /** A node that somebody holds, and where: {node, place}. */
    this.held = null;
    this.show(film, moments, rows);
  }

  /** From now on draws this film. */
  show(film, moments, rows) {
    Object.assign(this, { film, moments, rows });
    this.looks = film.roles.map(lookOfRoles);
    this.routes = new Routes(film);
  }

  resize() {
    const { clientWidth, clientHeight } = this.canvas, ratio = window.devicePixelRatio || 1;
    this.canvas.width = clientWidth * ratio;
    this.canvas.height = clientHeight * ratio;
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const [width, height] = this.film.field;
    this.scale = Math.max(0.001, Math.min((clientWidth - 2 * MARGIN) / width, (clientHeight - 2 * MARGIN) / height));
    this.left = (clientWidth - width * this.scale) / 2;
    this.top = (clientHeight - height * this.scale) / 2;
    this.width = clientWidth;
    this.height = clientHeight;
  }

  /** `ways` of the chosen notification: so far, or if `whole` with what is to come, and where they stopped. */
  draw(time, ways, whole) {
    this.time = time;
    this.places = Array.from({ length: this.film.nodes }, (_, node) => this.#place(node, time));
    if (this.held) this.places[this.held.node] = this.held.place;
    this.parents = this.moments.parents.map((one) => one.at(time));
    this.roots = this.moments.hasTree ? this.moments.roots(time) : [];
    this.context.clearRect(0, 0, this.width, this.height);
    this.#drawField();
    if (this.choice.areas) drawAreas(this);
    if (this.choice.links) this.#drawLinks();
    this.#drawTree();
    this.#drawRoutes();
    this.#drawWays(ways.flatMap((way) => way.legs), whole);
    this.#drawFlights();
    this.#drawBeliefs();
    this.#drawNodes();
  }

  /** What is at a place of the canvas: {node}, {row} of a message, or nothing. */
  hit(x, y) {
    const near = ([px, py], limit) => Math.hypot(px - x, py - y) < limit;
    const node = this.places.findIndex((place, one) => one !== this.held?.node && near(place, NEAR));
    if (node >= 0) return { node };
    const flight = this.flights.find(({ place }) => near(place, NEAR));
    return flight ? { row: flight.row } : {};
  }

  /** The leader of each tree of two nodes or more, with its size, the largest first. */
  partitions() {
    const sizes = new Map();
    for (const root of this.roots) if (root >= 0) sizes.set(root, (sizes.get(root) ?? 0) + 1);
    return [...sizes].sort((a, b) => b[1] - a[1]);
  }

  #place(node, time) { return this.point(this.moments.position(node, time)); }

  /** The point of the picture of a place on the field (m). */
  point([x, y]) { return [this.left + x * this.scale, this.top + y * this.scale]; }

  /** The place on the field (m) of a point of the picture. */
  metres(x, y) { return [(x - this.left) / this.scale, (y - this.top) / this.scale]; }

  #drawField() {
    const { context, film, choice } = this;
    context.strokeStyle = choice.theme.line;
    context.lineWidth = 1;
    const [width, height] = film.field.map((side) => side * this.scale), bottom = this.top + height + PAD;
    context.strokeRect(this.left - PAD, this.top - PAD, width + 2 * PAD, height + 2 * PAD);
    if (!film.placed) return;
    const bar = scaleOf(film.field[0]), right = this.left + bar * this.scale;
    context.font = FONT;
    context.fillStyle = context.strokeStyle = choice.theme.faint;
    context.fillText("(0, 0)", this.left, this.top - PAD - 5);
    const corner = `(${film.field.map((side) => +side.toFixed(1)).join(", ")}) m`;
    context.fillText(corner, this.left + width - context.measureText(corner).width, bottom + 14);
    context.beginPath();
    for (const x of [this.left, this.left + width]) for (const y of [this.top, this.top + height]) {
      context.moveTo(x - 4, y);
      context.lineTo(x + 4, y);
      context.moveTo(x, y - 4);
      context.lineTo(x, y + 4);
    }
    context.moveTo(this.left, bottom + 6);
    for (const [x, y] of [[this.left, 6], [this.left, 12], [right, 12], [right, 6]]) context.lineTo(x, bottom + y);
    context.stroke();
    context.fillText(`${bar} m`, right + 6, bottom + 14);
  }

  /** Where nodes believe to be, if that is elsewhere. */
  #drawBeliefs() {
    const { context, choice } = this;
    context.strokeStyle = choice.theme.accent;
    context.lineWidth = 1.2;
    this.moments.beliefs.forEach((belief, node) => {
      const place = belief.at(this.time);
      if (!place) return;
      const [x, y] = this.point(place), [nx, ny] = this.places[node];
      if (Math.hypot(x - nx, y - ny) < 3) return;
      context.beginPath();
      context.arc(x, y, 4, 0, 2 * Math.PI);
      context.stroke();
      context.setLineDash([2, 3]);
      context.beginPath();
      context.moveTo(nx, ny);
      context.lineTo(x, y);
      context.stroke();
      context.setLineDash([]);
    });
  }

  /** The routes of the chosen node, hop by hop, by the tables that nodes have. */
  #drawRoutes() {
    const { context, choice } = this;
    context.fillStyle = choice.theme.focus;
    const hops = this.routes.of(choice.node, this.time);
    this.#drawLines(hops, choice.theme.focus, 2, [1, 3]);
    for (const [a, b] of hops) this.#drawArrow(this.places[a], this.places[b]);
  }

  #drawLinks() {
    const metres = this.film.links.kind === "distance" ? this.places.map(([x, y]) => this.metres(x, y)) : [];
    this.#drawLines(linkedPairs(this.moments, this.time, metres), this.choice.theme.link, 0.5);
  }

  #drawTree() {
    const colours = this.choice.theme.trees;
    this.partitions().forEach(([root], i) => {
      const edges = this.roots.flatMap((own, node) => (own === root && this.parents[node] >= 0 ? [[node, this.parents[node]]] : []));
      this.#drawLines(edges, colours[i % colours.length], 2.5, i < colours.length ? [] : [6, 3]);
    });
  }

  #drawLines(pairs, colour, width, dash = []) {
    const { context, places } = this;
    context.beginPath();
    for (const [a, b] of pairs) {
      context.moveTo(...places[a]);
      context.lineTo(...places[b]);
    }
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.stroke();
    context.setLineDash([]);
  }

  #drawWays(legs, whole) {
    for (const leg of legs) {
      if (leg.begin > this.time && !whole) continue;
      if (leg.kind !== "stored") this.#drawLeg(leg, whole);
      else if (whole) this.#drawStop(leg);
    }
  }

  /** Where the nodes were when it happened. */
  #drawLeg(leg, whole) {
    const { context, choice } = this, from = this.#place(leg.from, leg.begin), to = this.#place(leg.to, leg.end);
    context.globalAlpha = leg.begin <= this.time ? 1 : 0.35;
    context.strokeStyle = context.fillStyle = choice.theme.accent;
    context.lineWidth = whole ? 3 : 1.5;
    context.setLineDash(leg.kind === "station" ? [2, 5] : []);
    context.beginPath();
    context.moveTo(...from);
    context.lineTo(...to);
    context.stroke();
    context.setLineDash([]);
    this.#drawArrow(from, to);
    if (whole) for (const [node, place] of [[leg.from, from], [leg.to, to]]) this.#drawGhost(node, place);
    context.globalAlpha = 1;
  }

  /** Names a node where it was, if that is not where it is. */
  #drawGhost(node, [x, y]) {
    const { context, choice } = this, [now, high] = this.places[node];
    if (Math.hypot(now - x, high - y) < NEAR) return;
    context.beginPath();
    context.arc(x, y, 4, 0, 2 * Math.PI);
    context.fillStyle = choice.theme.ground;
    context.fill();
    context.lineWidth = 1.5;
    context.stroke();
    context.fillStyle = choice.theme.faint;
    context.font = "italic 11px system-ui, 'DejaVu Sans', sans-serif";
    context.fillText(this.film.nameOf(node), x + 6, y - 4);
  }

  #drawArrow([x0, y0], [x, y]) {
    const { context } = this, length = Math.hypot(x - x0, y - y0), angle = Math.atan2(y - y0, x - x0);
    if (length < 24) return;
    const [mx, my] = [x0 + (x - x0) * 0.6, y0 + (y - y0) * 0.6];
    context.beginPath();
    for (const turn of [0, 2.5, -2.5]) context.lineTo(mx + 8 * Math.cos(angle + turn), my + 8 * Math.sin(angle + turn));
    context.fill();
  }

  #drawStop(leg) {
    const { context, choice } = this, [x, y] = this.#place(leg.from, leg.begin);
    context.globalAlpha = leg.begin <= this.time ? 1 : 0.35;
    context.strokeStyle = choice.theme.accent;
    context.lineWidth = 2;
    context.strokeRect(x - 12, y - 12, 24, 24);
    context.globalAlpha = 1;
  }

  #drawFlights() {
    const { rows, film, choice } = this, least = choice.speed * FLIGHT_S;
    this.flights = [];
    const [first, behind] = rows.sendsBetween(this.time - Math.max(least, LONGEST_FLIGHT_S), this.time);
    const shown = [];
    for (let i = first; i < behind; i++) {
      const flight = this.#flight(rows.sends[i], least);
      if (flight.share < 1 && choice.shows(film, flight.row)) shown.push(flight);
    }
    this.underWay = shown.length;
    const step = Math.ceil(shown.length / MOST_FLIGHTS);
    for (let i = 0; i < shown.length; i += step || 1) this.#drawFlight(shown[i]);
  }

  #flight(row, least) {
    const begin = this.film.time[row], arrival = this.rows.arrivalOf(row);
    const end = Math.max(begin + least, Math.min(arrival || 0, begin + LONGEST_FLIGHT_S));
    return { row, arrived: arrival > 0, share: (this.time - begin) / (end - begin) };
  }

  #drawFlight({ row, arrived, share }) {
    const { film } = this, sender = this.places[film.nodeOf(row)], receiver = film.peerOf(row);
    if (receiver < 0) return this.#drawBroadcast(row, sender, share);
    this.#drawMessage(row, between(sender, this.places[receiver], share), arrived || !film.receipts, share);
  }

  #drawBroadcast(row, sender, share) {
    const { context, film } = this, reach = film.links.reach[film.nodeOf(row)] * this.scale || 60;
    context.globalAlpha = 0.5 * (1 - share);
    context.strokeStyle = this.#colour(row);
    context.lineWidth = 1.5;
    context.beginPath();
    context.arc(...sender, Math.max(0, reach * share), 0, 2 * Math.PI);
    context.stroke();
    context.globalAlpha = 1;
    for (const receive of this.rows.receivesOf(row)) {
      this.#drawMessage(row, between(sender, this.places[film.nodeOf(receive)], share), true, share, MESSAGE * 0.7);
    }
  }

  /** One that does not arrive fades, hollow. */
  #drawMessage(row, place, arrives, share, size = MESSAGE) {
    const { context } = this, colour = this.#colour(row);
    context.globalAlpha = arrives ? 1 : 1 - 0.8 * share;
    context.beginPath();
    trace(context, this.choice.looks.get(this.film.typeOf(row)).shape, ...place, size);
    context.lineWidth = 1.2;
    context.strokeStyle = arrives ? this.choice.theme.ground : colour;
    if (arrives) { context.fillStyle = colour; context.fill(); }
    if (!arrives || size === MESSAGE) context.stroke();
    context.globalAlpha = 1;
    this.flights.push({ row, place });
  }

  #colour(row) {
    const { theme, looks } = this.choice;
    return theme.palette[looks.get(this.film.typeOf(row)).colour];
  }

  #drawNodes() {
    const leaders = new Set(this.partitions().map(([root]) => root));
    this.labels = [];
    for (let node = 0; node < this.film.nodes; node++) this.#drawNode(node, leaders.has(node));
  }

  #drawNode(node, leads) {
    const { context, choice } = this, [x, y] = this.places[node], look = this.looks[node];
    const state = this.moments.states[node].at(this.time);
    context.beginPath();
    trace(context, look.shape, x, y, NODE);
    context.fillStyle = state === "crashed" ? choice.theme.ground : look.fill;
    context.fill();
    context.lineWidth = node === choice.node ? 4 : 1.5;
    context.strokeStyle = node === choice.node ? choice.theme.accent : choice.theme.text;
    context.stroke();
    fillInner(context, look, x, y, NODE);
    if (leads) this.#drawStar(x, y - NODE - 6);
    this.#drawState(state, x, y);
    this.#drawLabel(node, x, y);
  }

  #drawStar(x, y) {
    const { context, choice } = this;
    context.beginPath();
    traceStar(context, x, y, 7);
    context.fillStyle = choice.theme.text;
    context.fill();
  }

  #drawState(state, x, y) {
    const { context, choice } = this, lines = {
      crashed: [[-9, -9, 9, 9], [-9, 9, 9, -9]],
      frozen: [[-2.5, -4, -2.5, 4], [2.5, -4, 2.5, 4]],
      up: [],
    };
    context.strokeStyle = state === "crashed" ? choice.theme.accent : choice.theme.ground;
    context.lineWidth = 2.5;
    context.beginPath();
    for (const [x0, y0, x1, y1] of lines[state]) { context.moveTo(x + x0, y + y0); context.lineTo(x + x1, y + y1); }
    context.stroke();
  }

  /** The number, and a bar of what is stored: one more pixel for each doubling. */
  #drawLabel(node, x, y) {
    const { context, choice } = this, stored = this.moments.stored[node].at(this.time);
    context.font = FONT;
    context.fillStyle = choice.theme.text;
    if (choice.names || node === choice.node) this.#drawName(node, x, y);
    if (!stored) return;
    context.fillStyle = choice.theme.accent;
    context.fillRect(x - NODE - 6, y + NODE, 4, -3 * Math.log2(stored + 1));
    context.font = COUNT_FONT;
    context.fillText(stored, x - NODE - 6, y + NODE + 13);
  }

  /** Beside, above or below the node: where there is room. */
  #drawName(node, x, y) {
    const { context } = this, name = this.film.nameOf(node), width = context.measureText(name).width;
    const spots = [[NODE + 3, 4], [-NODE - 3 - width, 4], [-width / 2, -NODE - 5], [-width / 2, NODE + 14]].map(([dx, dy]) => [x + dx, y + dy]);
    const isFree = ([left, low]) => {
      const meets = ([px, py]) => px > left - NODE && px < left + width + NODE && py > low - 9 - NODE && py < low + NODE;
      const overlaps = ([l, b, w]) => left < l + w + 2 && l < left + width + 2 && Math.abs(b - low) < 11;
      const isInside = left > this.left - PAD && left + width < this.width - this.left + PAD;
      return isInside && !this.labels.some(overlaps) && !this.places.some((place, other) => other !== node && meets(place));
    };
    const spot = (this.film.nodes <= MOST_LABELS && spots.find(isFree)) || spots[0];
    this.labels.push([...spot, width]);
    context.strokeStyle = this.choice.theme.ground;
    context.lineWidth = 3;
    context.strokeText(name, ...spot);
    context.fillText(name, ...spot);
  }
}

/** A round length, at most a quarter of the field's width (m). */
function scaleOf(width) {
  const power = 10 ** Math.floor(Math.log10(width / 4));
  return power * [5, 2, 1].find((one) => one * power <= width / 4);
}

function between([x0, y0], [x1, y1], share) { return [x0 + (x1 - x0) * share, y0 + (y1 - y0) * share]; }
