/* Says how things are drawn, with samples. */

import { element, replace } from "./dom.js";
import { fillInner, lookOfRoles, trace, traceStar } from "./looks.js";

const SIDE = 16;

/** A small picture; `draw` gets its context. */
export function sample(draw) {
  const canvas = element("canvas", { width: SIDE * 2, height: SIDE * 2 });
  canvas.style.cssText = `width:${SIDE}px;height:${SIDE}px;flex:none`;
  const context = canvas.getContext("2d");
  context.scale(2, 2);
  context.beginPath();
  draw(context);
  return canvas;
}

export function shapeSample({ shape, fill, inner = null }) {
  return sample((context) => {
    trace(context, shape, SIDE / 2, SIDE / 2, 4.5);
    context.fillStyle = fill;
    context.fill();
    fillInner(context, { inner }, SIDE / 2, SIDE / 2, 4.5);
  });
}

export function showLegend(parent, views, theme) {
  const lines = [...new Set(views.flatMap((view) => view.film.roles))].map((roles) => {
    return [shapeSample(lookOfRoles(roles)), ` ${roles || "no role"}`];
  });
  const star = sample((context) => {
    traceStar(context, SIDE / 2, SIDE / 2, 7);
    context.fillStyle = theme.text;
    context.fill();
  });
  if (views.some((view) => view.moments.hasTree)) {
    lines.push([star, " leader: the root of a tree of at least two nodes, by the parents that agents note. Each tree, a partition, has a colour."]);
  }
  replace(parent, list(lines));
}

/** Says what the lines between nodes and the flights of messages mean in these runs. */
export function showRemarks(parent, views) {
  replace(parent, list([...new Set(views.flatMap(remarks))].map((text) => [text])));
}

const list = (lines) => element("ul", {}, ...lines.map((parts) => element("li", {}, ...parts)));

/** What is known of a run, and what is not. */
function remarks({ film }) {
  const links = {
    distance: `Grey lines: in reach by distance${film.links.given.length ? " or by the given path losses" : ""}, ${Math.max(...film.links.reach).toFixed(0)} m where the mean path loss leaves the radio's sensitivity, or as the scenario says. Whether a frame could arrive no trace tells.`,
    graph: "Grey lines: the links of the scenario's graph that are up.",
    unknown: "No links: there is no run.ini beside the trace.",
  };
  const receipts = film.receipts
    ? "Messages fly for at least 0.4 s of your time. One without a receiver is hollow, and fades. If a message was sent several times, the last copy before the arrival is assumed to have arrived."
    : "Messages fly for 0.4 s of your time to their destinations; the trace of this run does not say whether they arrived (see --record, --again and --level full).";
  const beliefs = film.columns.beliefTime.length ? ["Ring on a dotted line: where a node believes to be."] : [];
  const routes = film.recorded ? ["Arrows from the chosen node: its routes, by the tables of the nodes on them."] : [];
  const places = film.placed ? [] : ["Places are chosen by the page: this run's links do not depend on any."];
  return [links[film.links.kind], receipts, "Rings: broadcasts. Bar and number below a node: notifications stored there, by the rows store and replay. Crossed out: crashed; two bars: frozen.", ...beliefs, ...routes, ...places];
}
