/* Colours and shapes. The colours are Okabe's and Ito's, told apart by the colour-blind; no two things differ by colour alone. */

const ORANGE = "#e69f00", SKY = "#56b4e9", GREEN = "#009e73", BLUE = "#0072b2", VERMILION = "#d55e00", PURPLE = "#cc79a7";
const YELLOW = "#f0e442", OCHRE = "#8a7300";

/** The colours of trees, Tol's dark and light ones: none is a message's. */
export function treePalette(dark) {
  return dark ? ["#44bb99", "#ffaabb", "#bbcc33", "#77aadd", "#eedd88"] : ["#225555", "#663333", "#666633", "#222255", "#555555"];
}

/** The shapes of messages: none of them is a node's. */
const SHAPES = ["cross", "bar", "saltire", "post", "hourglass", "chevron"];

/** The colours of things that move or belong together, for light or dark ground. */
export function palette(dark) {
  return dark ? [VERMILION, SKY, GREEN, PURPLE, ORANGE, YELLOW] : [VERMILION, BLUE, GREEN, PURPLE, ORANGE, OCHRE];
}

/** The look of each type of message, the most frequent first: with 36 types no two have both in common. */
export function lookOfTypes(types) {
  return new Map(types.map((type, i) => {
    const round = Math.floor(i / SHAPES.length);
    return [type, { colour: i % 6, shape: SHAPES[(i + round) % SHAPES.length] }];
  }));
}

/** The look of a node by its roles; a broker that publishes or subscribes, and does not do both, shows that inside. */
export function lookOfRoles(roles) {
  const publishes = roles.includes("publisher"), subscribes = roles.includes("subscriber");
  const inner = publishes === subscribes ? null : publishes ? "triangle" : "disc";
  if (roles.includes("broker")) return { fill: BLUE, shape: "square", inner };
  if (publishes) return { fill: ORANGE, shape: "triangle", inner: null };
  return subscribes ? { fill: SKY, shape: "disc", inner: null } : { fill: "#8a9099", shape: "diamond", inner: null };
}

/** Draws what a node shows inside, if anything, on its filled shape of half-width r. */
export function fillInner(context, { inner }, x, y, r) {
  if (!inner) return;
  context.beginPath();
  trace(context, inner, x, y, r * 0.55);
  context.fillStyle = "#fff";
  context.fill();
}

const CROSS = [
  [-0.4, -1.2], [0.4, -1.2], [0.4, -0.4], [1.2, -0.4], [1.2, 0.4], [0.4, 0.4],
  [0.4, 1.2], [-0.4, 1.2], [-0.4, 0.4], [-1.2, 0.4], [-1.2, -0.4], [-0.4, -0.4],
];

const CHEVRON = [[-1.1, -1.2], [-0.1, -1.2], [1.1, 0], [-0.1, 1.2], [-1.1, 1.2], [0.1, 0]];

/** Adds a shape of half-width r around (x, y) to the path. */
export function trace(context, shape, x, y, r) {
  const draw = {
    disc: () => { context.moveTo(x + r, y); context.arc(x, y, r, 0, 2 * Math.PI); },
    square: () => context.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8),
    triangle: () => polygon(context, [[x, y - r * 1.15], [x + r * 1.1, y + r * 0.85], [x - r * 1.1, y + r * 0.85]]),
    diamond: () => polygon(context, [[x, y - r * 1.25], [x + r * 1.25, y], [x, y + r * 1.25], [x - r * 1.25, y]]),
    cross: () => polygon(context, CROSS.map(([dx, dy]) => [x + dx * r, y + dy * r])),
    bar: () => context.rect(x - r * 1.4, y - r * 0.5, r * 2.8, r),
    post: () => context.rect(x - r * 0.5, y - r * 1.4, r, r * 2.8),
    saltire: () => polygon(context, CROSS.map(([dx, dy]) => [x + ((dx - dy) * r) / Math.SQRT2, y + ((dx + dy) * r) / Math.SQRT2])),
    hourglass: () => polygon(context, [[x - r, y - r * 1.2], [x + r, y - r * 1.2], [x - r, y + r * 1.2], [x + r, y + r * 1.2]]),
    chevron: () => polygon(context, CHEVRON.map(([dx, dy]) => [x + dx * r, y + dy * r])),
  };
  draw[shape]();
}

function polygon(context, points) {
  points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
}

/** A star of five points: who leads. */
export function traceStar(context, x, y, r) {
  const points = Array.from({ length: 10 }, (_, i) => {
    const angle = (i * Math.PI) / 5, radius = i % 2 ? r * 0.42 : r;
    return [x + radius * Math.sin(angle), y - radius * Math.cos(angle)];
  });
  polygon(context, points);
}
