// The look of a series. Its number chooses colour, dash and marker, so that no two series differ in colour alone.

// The colours are in the style sheet, which has light and dark ones.
const COLOUR_COUNT = 8;

// Strokes and gaps in pixels.
const DASHES = [
  [],
  [7, 3],
  [2, 2],
  [7, 2, 2, 2],
  [13, 3],
  [13, 2, 2, 2],
  [2, 4],
  [7, 2, 2, 2, 2, 2],
];

// The markers of the figures: corners around the middle, at most 1 away from it.
const star = (corners, inner, turn = 0) =>
  Array.from({ length: corners }, (_, corner) => {
    const angle = 2 * Math.PI * (corner / corners + turn);
    const reach = corner % 2 ? inner : 1;
    return [reach * Math.sin(angle), -reach * Math.cos(angle)];
  });
const PLUS = [
  [-1, -3], [1, -3], [1, -1], [3, -1], [3, 1], [1, 1], [1, 3], [-1, 3], [-1, 1], [-3, 1], [-3, -1], [-1, -1],
].map(([x, y]) => [x / 3, y / 3]);
const CROSS = PLUS.map(([x, y]) => [(x - y) * Math.SQRT1_2, (x + y) * Math.SQRT1_2]);
const SIGNS = [
  star(32, 1),
  star(4, 1, 1 / 8),
  star(3, 1),
  star(4, 1),
  star(3, 1, 1 / 2),
  PLUS,
  CROSS,
  star(10, 0.45),
  star(3, 1, 3 / 4),
  star(3, 1, 1 / 4),
  star(5, 1),
  star(6, 1),
];

// The filled part of a marker, as shares of its width and height: all, none, or one half.
const FILLINGS = [
  [0, 0, 1, 1],
  [0, 0, 0, 0],
  [0, 0, 0.5, 1],
  [0, 0.5, 1, 0.5],
  [0.5, 0, 0.5, 1],
  [0, 0, 1, 0.5],
];

const colourName = (look) => `--series-${look % COLOUR_COUNT}`;

// After the last colour, the colours repeat with other dashes.
const dash = (look) => DASHES[(look + Math.floor(look / COLOUR_COUNT)) % DASHES.length];

const filling = (look) => FILLINGS[look % FILLINGS.length];

// The current colour of the style sheet: light, dark, or print.
function ink(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// The corners of a marker around a place.
const outline = (sign, x, y, radius) =>
  SIGNS[sign % SIGNS.length].map(([right, down]) => [x + radius * right, y + radius * down]);

function svg(name, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
  return element;
}

function lineSample({ look }) {
  const sample = svg("svg", { width: 30, height: 10, "aria-hidden": "true" });
  const line = svg("line", { x1: 0, x2: 30, y1: 5, y2: 5, "stroke-width": 2, "stroke-dasharray": dash(look) });
  line.style.stroke = `var(${colourName(look)})`;
  sample.append(line);
  return sample;
}

// A stroke as of an event: short if there are many, dashed if not.
function strokeSample(isShort) {
  const sample = svg("svg", { width: 14, height: 14, "aria-hidden": "true" });
  const line = svg("line", { x1: 7, x2: 7, y1: isShort ? 5 : 0, y2: 14, "stroke-dasharray": isShort ? "" : "3 3" });
  line.style.stroke = "var(--chart-text)";
  sample.append(line);
  return sample;
}

// A circle as of the points of a series, or a grey marker of a key.
function signSample({ look, sign }) {
  const sample = svg("svg", { width: 14, height: 14, "aria-hidden": "true" });
  const colour = look === undefined ? "var(--chart-text)" : `var(${colourName(look)})`;
  const points = outline(sign ?? 0, 7, 7, 6).join(" ");
  const part = FILLINGS[(look ?? 0) % FILLINGS.length].map((share) => 14 * share);
  const [left, top, width, height] = part;
  const inside = svg("polygon", { points });
  inside.style.fill = colour;
  inside.style.clipPath = `polygon(${left}px ${top}px, ${left + width}px ${top}px, ${left + width}px ${top + height}px, ${left}px ${top + height}px)`;
  const edge = svg("polygon", { points, fill: "none", "stroke-width": 1.5 });
  edge.style.stroke = colour;
  sample.append(inside, edge);
  return sample;
}
