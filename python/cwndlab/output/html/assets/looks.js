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

// Corners, a turn as a share of the full circle, and how far every other corner is drawn in.
const SIGNS = [
  { corners: 32, turn: 0, inner: 1 },
  { corners: 4, turn: 1 / 8, inner: 1 },
  { corners: 3, turn: 0, inner: 1 },
  { corners: 4, turn: 0, inner: 1 },
  { corners: 3, turn: 1 / 2, inner: 1 },
  { corners: 10, turn: 0, inner: 0.45 },
  { corners: 5, turn: 0, inner: 1 },
  { corners: 8, turn: 0, inner: 0.35 },
];

const colourName = (look) => `--series-${look % COLOUR_COUNT}`;

// After the last colour, the colours repeat with other dashes.
const dash = (look) => DASHES[(look + Math.floor(look / COLOUR_COUNT)) % DASHES.length];

const sign = (look) => SIGNS[(look + Math.floor(look / COLOUR_COUNT)) % SIGNS.length];

// The current colour of the style sheet: light, dark, or print.
function ink(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function outline({ corners, turn, inner }, x, y, radius) {
  return Array.from({ length: corners }, (_, corner) => {
    const angle = 2 * Math.PI * (corner / corners + turn);
    const reach = corner % 2 ? radius * inner : radius;
    return [x + reach * Math.sin(angle), y - reach * Math.cos(angle)];
  });
}

function svg(name, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
  return element;
}

function lineSample(look) {
  const sample = svg("svg", { width: 30, height: 10, "aria-hidden": "true" });
  const line = svg("line", { x1: 0, x2: 30, y1: 5, y2: 5, "stroke-width": 2, "stroke-dasharray": dash(look) });
  line.style.stroke = `var(${colourName(look)})`;
  sample.append(line);
  return sample;
}

function signSample(look) {
  const sample = svg("svg", { width: 14, height: 14, "aria-hidden": "true" });
  const shape = svg("polygon", { points: outline(sign(look), 7, 7, 6).join(" ") });
  shape.style.fill = `var(${colourName(look)})`;
  sample.append(shape);
  return sample;
}
