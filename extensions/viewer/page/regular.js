/* Tells the types of message that nodes send at regular intervals, such as heartbeats: they drown what happens. */

/** So many gaps between sends of a node must there be to tell, and such a part of them must be as long as most are. */
const FEWEST_GAPS = 8, ALIKE = 0.75, EVEN = 0.25;
/** Of everything that flies such a part must be of a type for it to drown others. */
const LEAST_SHARE = 0.1;

/** The types that make up much of what flies, name no notification, and follow each other at a node at even gaps. */
export function regularTypes(film, rows) {
  const types = new Map();
  let flying = 0;
  for (const row of rows.sends) {
    const type = film.typeOf(row), known = types.get(type) ?? { sent: [], flying: 0 }, flies = 1 + countReceives(rows, row);
    known.sent.push(row);
    known.flying += flies;
    flying += flies;
    types.set(type, known);
  }
  const regular = ({ sent, flying: own }) => own >= LEAST_SHARE * flying && isRegular(film, sent);
  return [...types].filter(([, known]) => regular(known)).map(([type]) => type);
}

function countReceives(rows, send) {
  let count = 0;
  for (const _ of rows.receivesOf(send)) count += 1;
  return count;
}

function isRegular(film, sent) {
  if (sent.some((row) => film.noteOf(row) >= 0 || film.carriedBy(row).length)) return false;
  const gaps = gapsOf(film, sent).sort((a, b) => a - b), usual = gaps[gaps.length >> 1];
  const alike = gaps.filter((gap) => Math.abs(gap - usual) <= EVEN * usual).length;
  return gaps.length >= FEWEST_GAPS && alike >= ALIKE * gaps.length;
}

/** The times between two sends of a type by the same node. */
function gapsOf(film, sent) {
  const last = new Map(), gaps = [];
  for (const row of sent) {
    const node = film.nodeOf(row), time = film.time[row];
    if (last.has(node) && time > last.get(node)) gaps.push(time - last.get(node));
    last.set(node, time);
  }
  return gaps;
}
