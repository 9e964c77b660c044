/* The strip above the slider: messages sent over the run as bars, what is stored as a line, one of each a run. */

const BARS = 300;

/** Drawn once for a size and a theme: the slider below tells the time. */
export function drawStrip(canvas, views, theme, end) {
  const context = canvas.getContext("2d"), { width, height } = canvas;
  context.clearRect(0, 0, width, height);
  views.forEach((view, i) => {
    const band = height / views.length, top = i * band;
    view.strip ??= measure(view, end);
    drawBars(context, view.strip.sent, theme.link, width, top, band - 2);
    drawLine(context, view.strip.stored, theme.accent, width, top, band - 2);
  });
}

function measure({ rows, moments }, end) {
  const sent = new Array(BARS).fill(0);
  for (const time of rows.sendTimes) sent[Math.min(BARS - 1, Math.floor((time / end) * BARS))] += 1;
  return { sent, stored: sent.map((_, i) => moments.storedInAll.at(((i + 1) / BARS) * end)) };
}

function drawBars(context, values, colour, width, top, height) {
  const most = Math.max(1, ...values);
  context.fillStyle = colour;
  values.forEach((value, i) => context.fillRect((i * width) / BARS, top + height, width / BARS - 0.5, (-value / most) * height));
}

function drawLine(context, values, colour, width, top, height) {
  const most = Math.max(1, ...values);
  context.beginPath();
  values.forEach((value, i) => context.lineTo(((i + 0.5) * width) / BARS, top + height - (value / most) * (height - 1)));
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.stroke();
}
