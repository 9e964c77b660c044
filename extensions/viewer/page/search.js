/* Searching in what is sorted. */

/** How many of the sorted `times` are at or before `time`. */
export function countUntil(times, time) {
  let low = 0, high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1; else high = middle;
  }
  return low;
}

/** The last of `rows`, sorted, that is below `row`; -1 if there is none. */
export function lastBelow(rows, row) {
  let low = 0, high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle] < row) low = middle + 1; else high = middle;
  }
  return low ? rows[low - 1] : -1;
}
