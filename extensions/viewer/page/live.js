/* A page that its server plays a session to: what is done becomes a command of the transcript, and a new film comes back. */

import { action, byId, element, replace } from "./dom.js";
import { readFilm } from "./film.js";

/** A pointer that moved less has clicked. */
const CLICK = 8;

export class Live {
  constructor(page) {
    this.page = page;
    this.transcript = "";
  }

  start() {
    byId("live-part").hidden = false;
    byId("do").placeholder = `${this.film.nameOf(0)} crashes`;
    byId("do-form").onsubmit = (event) => {
      event.preventDefault();
      this.do(byId("do").value);
    };
    byId("undo").onclick = () => this.ask({ undo: true });
    byId("save").onclick = () => this.save();
    byId("node").addEventListener("change", () => this.offer());
    this.listen(this.page.views[0].stage);
    this.offer();
    return this.ask({});
  }

  get film() { return this.page.views[0].film; }

  do(command) { return this.ask({ at: this.page.choice.time, do: command }); }

  async ask(question) {
    const answer = await asked(question);
    replace(byId("live-error"), answer.error ?? "", ...(answer.later ? this.later(question, answer.later) : []));
    if (answer.error || answer.later) return;
    this.page.adopt(await readFilm(answer.film));
    this.transcript = answer.transcript;
    this.showTranscript();
    byId("do").value = "";
    this.offer();
  }

  /** Each command with what it did; the one of the time is marked, and kept in sight. */
  showTranscript() {
    const blocks = this.transcript.split(/(?<=\n)(?=>)/).map((text) => element("div", {}, text));
    replace(byId("transcript"), ...blocks);
    this.blocks = blocks.filter(({ textContent }) => textContent.startsWith(">"));
    this.mark(this.page.choice.time);
  }

  mark(time) {
    const now = this.blocks?.[this.film.live.times.findLastIndex((one) => one <= time)];
    if (now === this.marked) return;
    this.marked?.classList.remove("now");
    now?.classList.add("now");
    if (now) byId("transcript").scrollTop = now.offsetTop - byId("transcript").clientHeight / 3;
    this.marked = now;
  }

  /** What a command would take the place of, and what can be done instead: nothing is dropped unasked. */
  later(question, commands) {
    const last = this.film.live.last;
    return [
      `${question.do}: this would replace later commands: ${commands.join("; ")}. `,
      action(`do it at the end, ${last.toFixed(3)} s`, () => this.ask({ ...question, at: last })), " · ",
      action("do it now and drop those", () => this.ask({ ...question, drop: true })), " · ",
      action("leave it", () => { byId("live-error").textContent = ""; this.page.draw(); }),
    ];
  }

  /** Commands about the chosen node, to be done by a click. */
  offer() {
    const { node } = this.page.choice, offers = node < 0 ? [] : commandsFor(this.film, node);
    replace(byId("do-now"), ...offers.flatMap((command) => [action(command, () => this.do(command)), element("br")]));
  }

  save() {
    const link = element("a", { href: URL.createObjectURL(new Blob([this.transcript], { type: "text/plain" })), download: "session.txt" });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  // Dragging

  listen(stage) {
    const { canvas } = stage;
    canvas.onpointerdown = (event) => this.hold(stage, event);
    canvas.onpointermove = (event) => this.drag(stage, event);
    canvas.onpointerup = (event) => this.drop(stage, event);
    canvas.onpointercancel = () => { stage.held = null; };
  }

  hold(stage, { offsetX, offsetY, pointerId }) {
    const { node } = stage.hit(offsetX, offsetY);
    if (node === undefined) return;
    this.from = [offsetX, offsetY];
    stage.held = { node, place: stage.places[node] };
    stage.canvas.setPointerCapture(pointerId);
  }

  drag(stage, { offsetX, offsetY }) {
    if (!stage.held) return;
    stage.held.place = [offsetX, offsetY];
    this.page.draw();
  }

  drop(stage, { offsetX, offsetY }) {
    if (!stage.held) return;
    const { node } = stage.held, target = stage.hit(offsetX, offsetY).node;
    stage.held = null;
    if (Math.hypot(offsetX - this.from[0], offsetY - this.from[1]) >= CLICK) {
      const command = this.dropped(node, target, stage.metres(offsetX, offsetY));
      if (command) this.do(command);
    }
    this.page.choose({ node });
    this.offer();
  }

  /** What it means to drop a node on another, or into nothing, at a place (m). */
  dropped(node, target, place) {
    const { film } = this, name = film.nameOf(node);
    if (film.live.field) return `${name} moves to ${place.map((metres) => Math.max(0, metres).toFixed(1)).join()}`;
    if (film.live.tree) return target === undefined ? `${name} is cut off` : `${name} moves to ${film.nameOf(target)}`;
    if (target === undefined) return "";
    const pair = [node, target].map((one) => film.nameOf(one)).join("-");
    return `link ${pair} ${this.areLinked(node, target) ? "down" : "up"}`;
  }

  areLinked(node, target) {
    const [view] = this.page.views, [a, b] = [Math.min(node, target), Math.max(node, target)];
    return Boolean(view.moments.links.find((link) => link.a === a && link.b === b)?.up.at(this.page.choice.time));
  }
}

function commandsFor({ live }, node) {
  const [first, ...others] = live.processes[node], clients = [first, ...others].filter((name) => !name.startsWith("b"));
  return [
    `${first} crashes`, `${first} freezes`, `${first} recovers`, ...(live.tree ? [`${first} is cut off`] : []),
    ...clients.flatMap((name) => [`${name} subscribes f1`, `${name} publishes e1`]),
  ];
}

async function asked(question) {
  try {
    const answer = await fetch(location.pathname, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question),
    });
    return answer.ok ? await answer.json() : { error: `the server refuses: ${answer.statusText}` };
  } catch {
    return { error: "the server does not answer; is roambus play still running?" };
  }
}
