/* Lets the reader choose what the report shows, and keeps the choice in the address. Without it the report shows everything.

Parts of the page have data-part, what they are; and data-at, the numbers of the values that they are of. A part is
shown if all of these are chosen, a figure if one of its lines is; the words sought are in the part, or a table's heading. */

(() => {
"use strict";

const FIND = "find-words";
const form = document.getElementById("filters"), find = document.getElementById("find");
const choices = [...form.querySelectorAll(".choice")].map((details) => ({
  details, key: details.dataset.key, title: details.querySelector("summary"), boxes: [...details.querySelectorAll("input")],
}));
const boxes = choices.flatMap((choice) => choice.boxes);
const placed = [...document.querySelectorAll("[data-at]")];
const parts = ["claim", "figure", "row", "column", "metric"].map((kind) => [kind, [...document.querySelectorAll(`[data-part="${kind}"]`)]]);
const [claims, figures, rows, columns, metrics] = parts.map(([, list]) => list);
const texts = new Map([...claims, ...figures, ...columns, ...metrics].map((part) => [part, wordsOf(part)]));

function wordsOf(part) {
  const picture = part.querySelector("svg")?.getAttribute("aria-label") ?? "";
  return `${picture} ${part.textContent}`.toLowerCase();
}

const show = (part, shown) => part.classList.toggle("off", !shown);
const isShown = (part) => !part.classList.contains("off");
const isSeen = (part) => !part.closest(".off");
const somethingOf = (list) => !list.length || list.some(isShown);

// What is shown

function apply() {
  const off = new Set(boxes.filter((box) => !box.checked).map((box) => box.dataset.number));
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = (part) => words.every((word) => texts.get(part).includes(word));
  for (const part of placed) show(part, !part.dataset.at.split(" ").some((number) => off.has(number)));
  for (const claim of claims) show(claim, isShown(claim) && found(claim));
  for (const figure of figures) show(figure, somethingOf([...figure.querySelectorAll("[data-at]")]) && found(figure));
  for (const part of [...columns, ...metrics]) show(part, found(part));
  for (const table of document.querySelectorAll("table")) showCells(table);
  for (const section of document.querySelectorAll("section")) showSection(section);
  tell(words);
}

function showCells(table) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    for (const row of table.tBodies[0].rows) show(row.cells[column], isShown(head));
  });
}

/** Without a claim, figure, row or column that is left there is nothing to show. */
function showSection(section) {
  show(section, parts.every(([kind]) => somethingOf([...section.querySelectorAll(`[data-part="${kind}"]`)])));
}

function tell(words) {
  const chosen = choices.filter(({ boxes }) => boxes.some((box) => !box.checked)).map(({ title, boxes }) => {
    const names = boxes.filter((box) => box.checked).map((box) => box.parentElement.textContent.trim());
    return `${title.textContent}: ${names.join(", ") || "none"}`;
  });
  if (words.length) chosen.unshift(`with “${words.join(" ")}”`);
  const counts = parts.slice(0, 4).filter(([, list]) => list.length)
    .map(([kind, list]) => `${list.filter(isSeen).length} of ${list.length} ${kind}s`);
  document.getElementById("shown").textContent = chosen.length ? `Only ${chosen.join("; ")}. ${counts.join(", ")}.` : "";
  for (const { details, boxes } of choices) details.classList.toggle("chosen", boxes.some((box) => !box.checked));
}

// The address: values that are chosen, of the choices that leave any out

function write() {
  const query = new URLSearchParams();
  if (find.value.trim()) query.set(FIND, find.value.trim());
  for (const { key, boxes } of choices) {
    const names = boxes.filter((box) => box.checked).map((box) => box.value);
    if (names.length < boxes.length) for (const name of names.length ? names : [""]) query.append(key, name);
  }
  const address = String(query);
  history.replaceState(null, "", address ? `#${address}` : location.pathname + location.search);
}

/** An address without any is that of a place in the page. */
function read() {
  const hash = location.hash.slice(1), query = new URLSearchParams(hash.includes("=") ? hash : "");
  find.value = query.get(FIND) ?? "";
  for (const { key, boxes } of choices) {
    const names = query.getAll(key);
    for (const box of boxes) box.checked = !query.has(key) || names.includes(box.value);
  }
  apply();
}

function change() {
  write();
  apply();
}

// Who reacts to what

form.addEventListener("input", change);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(change)); // the boxes are reset after the event
form.addEventListener("click", ({ target }) => {
  if (target.type !== "button") return;
  for (const box of target.closest(".choice").querySelectorAll("input")) box.checked = target.value === "all";
  change();
});
form.addEventListener("keydown", ({ key, target }) => {
  const details = target.closest(".choice");
  if (key !== "Escape" || !details) return;
  details.open = false;
  details.querySelector("summary").focus();
});
for (const event of ["click", "focusin"]) document.addEventListener(event, ({ target }) => {
  for (const { details } of choices) if (!details.contains(target)) details.open = false;
});
addEventListener("hashchange", read);
form.hidden = false;
read();
})();
