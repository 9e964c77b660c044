/* The ways of a notification, from its publisher to each subscriber.

Of a recorded run it is known what each message carries, so a way is followed back from the delivery, hop by hop. Of any
other run only its stations are known: who took it on, stored, replayed and delivered it. */

/** At most so many legs a way: copies of a notification can chase each other in circles. */
const MOST_LEGS = 500;

/** A leg is {kind: "sent" | "stored" | "station", from, to, begin, end, type}; times in seconds. */
export function waysOf(film, rows, note) {
  const own = rowsAbout(film, note);
  const publish = own.publish[0] ?? -1;
  const wanted = publish < 0 ? [] : film.detailOf(publish).split(" ").filter(Boolean).map(Number);
  const subscribers = new Set([...wanted, ...own.deliver.map((row) => film.nodeOf(row))]);
  return {
    note, publish, own,
    ways: [...subscribers].map((subscriber) => wayTo(film, own, publish, subscriber)),
  };
}

/** The rows of each kind that name the notification, or carry it. */
function rowsAbout(film, note) {
  const about = { publish: [], route: [], store: [], replay: [], deliver: [], drop: [], send: [], receive: [] };
  const carries = film.contentNotes?.map((notes) => notes.includes(note)) ?? [];
  const { kind, content, note: named } = film.columns;
  for (let row = 0; row < film.count; row++) {
    if (named[row] - 1 === note || (content[row] && carries[content[row] - 1])) about[film.kinds[kind[row]]]?.push(row);
  }
  return about;
}

function wayTo(film, own, publish, subscriber) {
  const delivery = own.deliver.find((row) => film.nodeOf(row) === subscriber) ?? -1;
  const legs = delivery >= 0 && film.recorded ? followBack(film, own, subscriber, delivery) : stations(film, own, publish, subscriber);
  const copies = own.deliver.filter((row) => film.nodeOf(row) === subscriber).length;
  return { subscriber, delivery, legs, copies, waiting: delivery < 0 ? waitingAt(film, own, subscriber) : [] };
}

function followBack(film, own, subscriber, delivery) {
  const legs = [];
  const before = (kind, node, row) => own[kind].findLast((one) => one < row && film.nodeOf(one) === node);
  const beforeFor = (kind, node, row) =>
    own[kind].findLast((one) => one < row && film.nodeOf(one) === node && film.peerOf(one) === subscriber);
  let node = subscriber, limit = delivery, replayLimit = delivery;
  while (legs.length < MOST_LEGS) {
    const arrival = before("receive", node, limit) ?? -1;
    const replay = beforeFor("replay", node, replayLimit) ?? -1;
    const store = beforeFor("store", node, replay) ?? -1;
    const send = arrival < 0 ? -1 : film.sendOf(arrival);
    if (replay > arrival && store >= 0) {
      legs.unshift({ kind: "stored", type: "", from: node, to: node, begin: film.time[store], end: film.time[replay] });
      limit = replayLimit = store;
    } else if (send >= 0) {
      legs.unshift(sentLeg(film, send, arrival));
      node = film.nodeOf(send);
      limit = send;
      replayLimit = atSameTime(film, send);
    } else break;
  }
  return legs;
}

/** Behind the last row of the same instant: an agent notes a replay after it has sent it. */
function atSameTime(film, row) {
  let next = row;
  while (next < film.count && film.time[next] === film.time[row]) next++;
  return next;
}

function sentLeg(film, send, arrival) {
  return {
    kind: "sent", type: film.typeOf(send), from: film.nodeOf(send), to: film.nodeOf(arrival),
    begin: film.time[send], end: film.time[arrival],
  };
}

function stations(film, own, publish, subscriber) {
  const ours = (row) => film.peerOf(row) === subscriber;
  const routes = own.route.filter((row) => film.detailOf(row).split(" ").includes(String(subscriber)));
  const delivery = own.deliver.filter((row) => film.nodeOf(row) === subscriber).slice(0, 1);
  const rows = [publish, ...routes, ...own.store.filter(ours), ...own.replay.filter(ours), ...delivery]
    .filter((row) => row >= 0).sort((a, b) => a - b);
  const legs = [];
  rows.forEach((row, i) => {
    if (i && (film.nodeOf(rows[i - 1]) !== film.nodeOf(row) || film.time[rows[i - 1]] < film.time[row])) {
      legs.push(stationLeg(film, rows[i - 1], row));
    }
  });
  return legs;
}

function stationLeg(film, from, to) {
  const leg = { from: film.nodeOf(from), to: film.nodeOf(to), begin: film.time[from], end: film.time[to] };
  const stored = leg.from === leg.to && film.kindOf(from) === "store";
  return { ...leg, kind: stored ? "stored" : "station", type: "" };
}

/** [node, since] where it is stored for a subscriber to the end. */
function waitingAt(film, own, subscriber) {
  const since = new Map();
  for (const row of [...own.store, ...own.replay].sort((a, b) => a - b)) {
    if (film.peerOf(row) !== subscriber) continue;
    if (film.kindOf(row) === "store") since.set(film.nodeOf(row), film.time[row]); else since.delete(film.nodeOf(row));
  }
  return [...since];
}
