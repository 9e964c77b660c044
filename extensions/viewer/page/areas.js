/* Areas of subscriptions, read from the text of their filters. */

const NUMBER = "(-?[\\d.]+)";
const CIRCLE = new RegExp(`within ${NUMBER} of \\(${NUMBER}, ${NUMBER}\\)`);
const SIDES = ["x >=", "x <=", "y >=", "y <="].map((side) => new RegExp(`${side} ${NUMBER}(?: |$)`));

/** {x, y, radius} or {x, y, right, bottom} in metres; null for a filter that names no area. */
export function areaOf(filter) {
  const circle = CIRCLE.exec(filter);
  if (circle) return { radius: Number(circle[1]), x: Number(circle[2]), y: Number(circle[3]) };
  const [x, right, y, bottom] = SIDES.map((side) => Number(side.exec(filter)?.[1] ?? NaN));
  return [x, right, y, bottom].every(Number.isFinite) ? { x, y, right, bottom } : null;
}

/** Draws what all nodes are subscribed to at the stage's time. */
export function drawAreas(stage) {
  const { context, choice, scale } = stage;
  stage.moments.areas.forEach((areas, node) => {
    for (const { x, y, radius, right, bottom } of areas.at(stage.time)) {
      const [left, top] = stage.point([x, y]);
      context.beginPath();
      if (radius) context.arc(left, top, radius * scale, 0, 2 * Math.PI);
      else context.rect(left, top, (right - x) * scale, (bottom - y) * scale);
      context.strokeStyle = context.fillStyle = node === choice.node ? choice.theme.accent : stage.looks[node].fill;
      context.lineWidth = node === choice.node ? 2 : 1;
      context.globalAlpha = 0.08;
      if (node === choice.node) context.fill();
      context.globalAlpha = 0.7;
      context.stroke();
      context.globalAlpha = 1;
    }
  });
}
