/* Draws the points that the reader chooses, lists them with their exact numbers, and the runs behind a point. The choice
stands in the address. Data come from the block `data`; every text is set as text. */

(() => {
"use strict";

const sweeps = JSON.parse(document.getElementById("data").textContent).map((sweep) => ({
  ...sweep, agents: sweep.agents.map(([key, title, colour], rank) => ({ key, title, colour, rank })),
  axes: sweep.axes.map(([key, title, values]) => ({ key, title, values })),
  metrics: sweep.metrics.map(([key, title, meaning, isLog, isMain, isShare], rank) => ({ key, title, meaning, isLog, isMain, isShare, rank })),
}));
const [form, panels, shown, table, runs] = ["choose", "panels", "shown", "table", "runs"].map((id) => document.getElementById(id));
const AGENT = "agent", NONE = "";
const MARKS = ["circle", "square", "triangle", "diamond"];
let sweep, choice;

// Elements

const SVG = "http://www.w3.org/2000/svg";

function make(tag, attributes = {}, ...children) {
  const isDrawn = ["svg", "g", "path", "text", "circle", "rect", "line", "title"].includes(tag);
  const made = isDrawn ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

const format = (number) => number === null ? "" : number.toLocaleString("en", { maximumSignificantDigits: Math.abs(number) < 1e4 ? 4 : 6 });
const spread = (low, high) => low === null ? "no interval" : `${format(low)} to ${format(high)}`;

function mark(kind, x, y, r, fill) {
  const path = { circle: null, square: `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
    triangle: `M${x} ${y - 1.3 * r}l${1.3 * r} ${2.2 * r}h${-2.6 * r}z`, diamond: `M${x} ${y - 1.4 * r}l${1.4 * r} ${1.4 * r}l${-1.4 * r} ${1.4 * r}l${-1.4 * r} ${-1.4 * r}z` }[kind];
  return path ? make("path", { class: "mark", d: path, fill }) : make("circle", { class: "mark", cx: x, cy: y, r, fill });
}

// The choice, and the address that holds it

function initial(query) {
  sweep = sweeps.find(({ name }) => name === query.get("sweep")) ?? sweeps[0];
  const keys = sweep.axes.map(({ key }) => key);
  const first = sweep.axes.find(({ values }) => values.length > 1) ?? sweep.axes[0];
  const metric = sweep.metrics.find(({ key }) => key === query.get("metric")) ?? sweep.metrics.find(({ isMain }) => isMain) ?? sweep.metrics[0];
  const x = [...keys, AGENT].includes(query.get("x")) ? query.get("x") : first?.key ?? AGENT;
  const split = keys.includes(query.get("split")) && query.get("split") !== x ? query.get("split") : NONE;
  const at = {};
  for (const { key, values } of sweep.axes) at[key] = values.includes(query.get(key)) ? query.get(key) : values.at(-1);
  const agents = query.getAll(AGENT).filter((agent) => sweep.agents.some(({ key }) => key === agent));
  choice = { metric: metric.key, x, split, at, agents: query.has("agents") || agents.length ? agents : sweep.agents.map(({ key }) => key) };
}

function address() {
  const query = new URLSearchParams(sweeps.length > 1 ? { sweep: sweep.name } : {});
  query.set("metric", choice.metric);
  query.set("x", choice.x);
  if (choice.split) query.set("split", choice.split);
  for (const { key } of fixedAxes()) query.set(key, choice.at[key]);
  if (choice.agents.length < sweep.agents.length) query.set("agents", choice.agents.length);
  if (choice.agents.length < sweep.agents.length) for (const agent of choice.agents) query.append(AGENT, agent);
  return `#${query}`;
}

const fixedAxes = () => sweep.axes.filter(({ key, values }) => key !== choice.x && key !== choice.split && values.length > 1);
const axis = (key) => key === AGENT ? { key, title: AGENT, values: sweep.agents.map((agent) => agent.key) } : sweep.axes.find((one) => one.key === key);
const theMetric = () => sweep.metrics.find(({ key }) => key === choice.metric);

function select(title, name, options, value) {
  const made = make("select", { name }, ...options.map(([key, text]) => make("option", { value: key, selected: key === value }, text)));
  return make("label", {}, title, made);
}

function controls() {
  const focused = document.activeElement?.name, focusedValue = document.activeElement?.value;
  const axes = sweep.axes.filter(({ values }) => values.length > 1);
  const parts = [
    sweeps.length > 1 && select("Sweep", "sweep", sweeps.map(({ name }) => [name, name]), sweep.name),
    select("Metric", "metric", sweep.metrics.map(({ key, title }) => [key, title]), choice.metric),
    select("Against", "x", [...axes.map(({ key, title }) => [key, title]), [AGENT, AGENT]], choice.x),
    axes.length > 1 && select("A panel for each", "split", [[NONE, "(one panel)"], ...axes.filter(({ key }) => key !== choice.x).map(({ key, title }) => [key, title])], choice.split),
    ...fixedAxes().map(({ key, title, values }) => select(title, `at ${key}`, values.map((value) => [value, value]), choice.at[key])),
    make("fieldset", {}, make("legend", {}, "Agents"), ...sweep.agents.map(({ key, title, colour, rank }) => make("label", {},
      make("input", { type: "checkbox", name: AGENT, value: key, checked: choice.agents.includes(key) }),
      make("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, mark(MARKS[rank % 4], 8, 8, 5, colour)), title))),
  ];
  form.replaceChildren(...parts.filter(Boolean));
  const again = [...form.elements].find(({ name, value, type }) => name === focused && (type !== "checkbox" || value === focusedValue));
  again?.focus();
}

function changed() {
  const values = new FormData(form);
  const query = new URLSearchParams();
  for (const name of ["sweep", "metric", "x", "split"]) if (values.get(name)) query.set(name, values.get(name));
  for (const { key } of sweep.axes) query.set(key, values.get(`at ${key}`) ?? choice.at[key]);
  query.set("agents", "some");
  for (const agent of values.getAll(AGENT)) query.append(AGENT, agent);
  if (values.get("sweep") && values.get("sweep") !== sweep.name) { query.delete("agents"); query.delete(AGENT); }
  initial(query);
  history.replaceState(null, "", address());
  show();
}

// The points

/** Those chosen, each with its agent, its values of the axes, and the numbers of points.csv. */
function points() {
  const fixed = fixedAxes();
  return (sweep.points[choice.metric] ?? []).map(([agent, ...rest]) => {
    const place = Object.fromEntries(sweep.axes.map(({ key }, at) => [key, rest[at]]));
    const [mean, low, high, half, seeds] = rest.slice(sweep.axes.length);
    return { agent: sweep.agents.find(({ key }) => key === agent), place: { ...place, [AGENT]: agent }, mean, low, high, half, seeds };
  }).filter(({ agent, place }) => agent && choice.agents.includes(agent.key) && fixed.every(({ key }) => place[key] === choice.at[key]))
    .sort((a, b) => sweep.axes.reduce((order, { key, values }) => order || values.indexOf(a.place[key]) - values.indexOf(b.place[key]), a.agent.rank - b.agent.rank));
}

/** The runs behind a point: seed, folder, then the metrics. */
function runsOf({ agent, place }) {
  return sweep.runs.filter(([key, ...rest]) => key === agent.key && sweep.axes.every((axis, at) => rest[at] === place[axis.key]))
    .map((run) => run.slice(1 + sweep.axes.length));
}

const seedsOf = (point) => runsOf(point).map(([, , ...values]) => values[theMetric().rank]).filter((value) => value !== null);
/** As in the figures: an interval of a share is wide with few seeds, and the seeds say more. */
const showsSeeds = (found) => theMetric().isShare && found.every(({ seeds }) => seeds < sweep.few);

function show() {
  controls();
  const found = points(), split = choice.split ? axis(choice.split) : null, metric = theMetric(), withSeeds = showsSeeds(found);
  const scale = { ...scaleOf(found, metric, withSeeds), withSeeds };
  const groups = split ? split.values.map((value) => [`${split.title} ${value}`, found.filter(({ place }) => place[split.key] === value)]) : [["", found]];
  panels.replaceChildren(...groups.filter(([, list]) => list.length).map(([title, list]) => panel(title, list, scale)));
  const at = fixedAxes().map(({ key, title }) => `${title} ${choice.at[key]}`).join(", ");
  shown.textContent = `${metric.title}: ${found.length} points${at ? ` at ${at}` : ""}, means over seeds${withSeeds ? ", and each seed as a small point" : " with 95 % intervals"}. ${metric.meaning} Choose a point to see its runs.`;
  list(found);
  runs.replaceChildren();
}

function scaleOf(found, { isLog, isShare, title }, withSeeds) {
  const numbers = found.flatMap((point) => withSeeds ? [point.mean, ...seedsOf(point)] : [point.mean, point.low ?? point.mean, point.high ?? point.mean]);
  const least = Math.min(...numbers), most = Math.max(...numbers, isShare ? 1 : -Infinity);
  const means = found.map(({ mean }) => mean);
  if (isLog && least > 0 && Math.max(...means) >= 10 * Math.min(...means)) {
    const [low, high] = [Math.log10(least) - 0.03, Math.log10(most) + 0.03];
    const ticks = [];
    for (let power = Math.floor(low); power <= high; power += 1) for (const digit of [1, 2, 5]) ticks.push(digit * 10 ** power);
    const within = ticks.filter((tick) => Math.log10(tick) >= low && Math.log10(tick) <= high);
    return { title: `${title}, logarithmic`, low, high, of: Math.log10, ticks: within.length > 8 ? within.filter((tick) => /^1/.test(tick.toExponential())) : within };
  }
  const low = Math.min(0, least), step = niceStep((most - low) / 4 || 1), ticks = [];
  // The axis ends at a tick above all points, a share's at 1.
  const high = Math.max(1, Math.ceil(most / step - 1e-9)) * step;
  for (let tick = Math.ceil(low / step) * step; tick <= high + step / 1e4; tick += step) ticks.push(Number(tick.toPrecision(12)));
  return { title, low, high, of: (number) => number, ticks };
}

function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
}

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [520, 320, 66, 44, 12, 12];

function panel(title, found, scale) {
  const { title: xTitle, values } = axis(choice.x);
  const step = (WIDTH - LEFT - RIGHT) / values.length;
  const y = (number) => HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * (scale.of(number) - scale.low) / (scale.high - scale.low || 1);
  const there = sweep.agents.filter(({ key }) => found.some(({ agent }) => agent.key === key));
  const shift = (agent) => choice.x === AGENT ? 0 : (there.indexOf(agent) - (there.length - 1) / 2) * Math.min(9, step / (there.length + 1));
  const x = ({ place, agent }) => LEFT + step * (values.indexOf(place[choice.x]) + 0.5) + shift(agent);
  const drawn = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": `${scale.title} against ${xTitle}${title && `, ${title}`}` });
  for (const tick of scale.ticks) {
    drawn.append(make("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(tick), y2: y(tick) }),
      make("text", { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, format(tick)));
  }
  values.forEach((value, at) => {
    const name = choice.x === AGENT ? sweep.agents[at].title : value;
    drawn.append(make("text", { x: LEFT + step * (at + 0.5), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, name.length > step / 6 ? `${name.slice(0, Math.max(3, step / 7))}…` : name));
  });
  drawn.append(make("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, xTitle),
    make("text", { x: 14, y: (HEIGHT - BOTTOM + TOP) / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${(HEIGHT - BOTTOM + TOP) / 2})` }, scale.title));
  for (const agent of there) {
    const line = found.filter((point) => point.agent === agent).sort((a, b) => x(a) - x(b));
    if (choice.x !== AGENT) drawn.append(make("path", { class: "line", stroke: agent.colour, d: line.map((point, at) => `${at ? "L" : "M"}${x(point)} ${y(point.mean)}`).join("") }));
    drawn.append(...line.map((point) => pointOf(point, x(point), y, scale.withSeeds)));
  }
  return make("figure", { class: "panel card" }, ...(title ? [make("figcaption", {}, title)] : []), drawn);
}

function named({ agent, place }) {
  return [agent.title, ...sweep.axes.map(({ key, title }) => `${title} ${place[key]}`)].join(", ");
}

function pointOf(point, x, y, withSeeds) {
  const { agent, mean, low, high, seeds } = point;
  const text = `${named(point)}: ${format(mean)} (${spread(low, high)}), ${seeds} seed${seeds === 1 ? "" : "s"}`;
  const open = () => { behind(point); runs.focus(); };
  const made = make("g", { class: "point", role: "button", tabindex: 0, "aria-label": text, onclick: open,
    onkeydown: (event) => { if (["Enter", " "].includes(event.key)) { event.preventDefault(); open(); } } }, make("title", {}, text));
  if (withSeeds) made.append(...seedsOf(point).map((value) => make("circle", { class: "seed", "data-value": value, cx: x, cy: y(value), r: 1.8, fill: agent.colour })));
  else if (low !== null) made.append(make("path", { class: "interval", stroke: agent.colour, "stroke-width": 1.5, d: `M${x} ${y(low)}V${y(high)}M${x - 4} ${y(low)}h8M${x - 4} ${y(high)}h8` }));
  made.append(make("circle", { class: "touch", cx: x, cy: y(mean), r: 12 }), mark(MARKS[agent.rank % 4], x, y(mean), 4.5, agent.colour));
  return made;
}

/** The same points as a table, with the exact numbers in `data-value`. */
function list(found) {
  const heads = [AGENT, ...sweep.axes.map(({ title }) => title), theMetric().title, "95 % interval", "seeds", "runs"];
  const rows = found.map((point) => make("tr", {},
    make("td", { class: "place" }, point.agent.title),
    ...sweep.axes.map(({ key }) => make("td", { class: "place" }, point.place[key])),
    make("td", { "data-value": point.mean }, format(point.mean)),
    make("td", { "data-low": point.low, "data-high": point.high }, spread(point.low, point.high)),
    make("td", {}, String(point.seeds)),
    make("td", {}, make("button", { type: "button", "aria-label": `Runs of ${named(point)}`, onclick: () => { behind(point); runs.focus(); } }, "show"))));
  table.replaceChildren(make("table", {}, make("thead", {}, make("tr", {}, ...heads.map((head, at) => make("th", { scope: "col", class: at <= sweep.axes.length ? "place" : "" }, head)))), make("tbody", {}, ...rows)));
}

// The runs behind a point

function behind(point) {
  const metric = theMetric();
  const rows = runsOf(point).map(([seed, folder, ...values]) => {
    const command = `roambus replay ${quoted(folder)}`;
    const film = location.protocol === "file:" ? make("button", { type: "button", onclick: (event) => copy(event.target, command) }, "copy")
      : make("a", { href: `?${new URLSearchParams({ film: folder })}`, target: "_blank" }, "open the film");
    return make("tr", {}, make("td", {}, String(seed)), make("td", { "data-value": values[metric.rank] }, format(values[metric.rank])),
      make("td", { class: "place" }, make("code", {}, command)), make("td", {}, film));
  });
  const heads = ["seed", metric.title, "its film", ""];
  runs.replaceChildren(make("h3", {}, `Runs of ${named(point)}`), make("div", { class: "scroll card", tabindex: 0 },
    make("table", {}, make("thead", {}, make("tr", {}, ...heads.map((head, at) => make("th", { scope: "col", class: at > 1 ? "place" : "" }, head)))), make("tbody", {}, ...rows))));
}

const quoted = (folder) => /^[\w@%+=:,./-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", `'"'"'`)}'`;

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "copied";
  } catch {
    getSelection().selectAllChildren(button.closest("tr").querySelector("code"));
  }
}

const parsed = () => new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
form.addEventListener("change", changed);
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", () => { if (location.hash.includes("=")) { initial(parsed()); show(); } });
form.hidden = false;
initial(parsed());
show();
})();
