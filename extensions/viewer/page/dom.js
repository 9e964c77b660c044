/* Makes parts of the page. Texts go in as texts: nothing that a run holds is ever read as HTML. */

export const byId = (id) => document.getElementById(id);

export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

export function replace(parent, ...children) { parent.replaceChildren(...children); }

export function table(head, rows) {
  const cells = (name, texts) => texts.map((text) => element(name, {}, text));
  return element("table", {},
    element("thead", {}, element("tr", {}, ...cells("th", head))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells("td", row)))));
}

/** Pairs of a term and what is said of it. */
export function terms(pairs) {
  return element("dl", {}, ...pairs.flatMap(([term, said]) => [element("dt", {}, term), element("dd", {}, said)]));
}

/** A text that does something when it is chosen. */
export function action(text, act) { return element("button", { className: "plain", onclick: act }, text); }
