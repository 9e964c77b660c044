/* Reads a film: see columns.py for how it is written, and rows.py for what each column holds. */

const NANOSECONDS = 1e9;

/** A run. Row i happens at time[i] seconds; texts are looked up by the methods, which know the columns' zeros. */
export class Film {
  constructor(header, columns) {
    Object.assign(this, header);
    this.columns = columns;
    this.count = columns.kind.length;
    this.nodes = header.roles.length;
    this.time = summed(columns.wait);
    this.contentNotes = header.recorded ? cut(columns.carried, columns.carries) : null;
    this.listed = header.recorded ? cut(columns.listed, columns.lists) : null;
  }

  nameOf(node) { return this.names[node] ?? "–"; }
  kindOf(row) { return this.kinds[this.columns.kind[row]]; }
  nodeOf(row) { return this.columns.node[row]; }
  /** -1 where there is none: a broadcast, if the row is a send. */
  peerOf(row) { return this.columns.peer[row] - 1; }
  typeOf(row) { return this.types[this.columns.type[row] - 1] ?? ""; }
  noteOf(row) { return this.columns.note[row] - 1; }
  detailOf(row) { return this.details[this.columns.detail[row] - 1] ?? ""; }
  hopsOf(row) { return this.columns.hops[row] - 1; }
  /** The send that a receive belongs to; -1 if it is not known. */
  sendOf(row) { return this.columns.origin[row] ? row - this.columns.origin[row] : -1; }
  textOf(row) { return this.recorded ? this.texts[this.columns.content[row] - 1] ?? "" : ""; }
  /** The numbers of the notifications that a send or receive carries. */
  carriedBy(row) { return this.contentNotes?.[this.columns.content[row] - 1] ?? []; }
  /** The last listing of each name that was seen of a node until a time: [seconds, name, head, rows]. */
  listingsOf(node, time) {
    const { lookTime, lookNode, lookListing } = this.columns, { listings, heads, rows } = this.tables, latest = new Map();
    for (let i = 0; i < lookTime.length && lookTime[i] / NANOSECONDS <= time; i++) {
      if (lookNode[i] === node) latest.set(listings[lookListing[i]][0], i);
    }
    return [...latest].map(([name, i]) => {
      const lines = Array.from(this.listed[lookListing[i]], (row) => rows[row]);
      return [lookTime[i] / NANOSECONDS, name, heads[listings[lookListing[i]][1]], lines];
    });
  }
}

/** From what columns.py packs, as base64. */
export async function readFilm(text) {
  const bytes = await decompressed(fromBase64(text));
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const { columns: layout, ...header } = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const columns = {};
  let offset = 4 + length;
  for (const [name, count, size] of layout) {
    columns[name] = readColumn(bytes, offset, count, size);
    offset += count * size;
  }
  return new Film(header, columns);
}

function fromBase64(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function decompressed(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function readColumn(bytes, offset, count, size) {
  const values = size === 1 ? new Uint8Array(count) : size === 2 ? new Uint16Array(count)
    : size <= 4 ? new Uint32Array(count) : new Float64Array(count);
  for (let plane = 0, weight = 1; plane < size; plane++, weight *= 256) {
    for (let i = 0; i < count; i++) values[i] += bytes[offset + plane * count + i] * weight;
  }
  return values;
}

function summed(waits) {
  const times = new Float64Array(waits.length);
  for (let i = 0, now = 0; i < waits.length; i++) times[i] = (now += waits[i]) / NANOSECONDS;
  return times;
}

/** The values in pieces of so many. */
function cut(values, counts) {
  let next = 0;
  return Array.from(counts, (count) => values.subarray(next, (next += count)));
}
