// Parts of every chart: axes with units, a legend that hides series, and its size.

const AXIS_WIDTH = 62;
const AXIS_HEIGHT = 34;
const LABEL_HEIGHT = 22;
const LABEL_LENGTH = 60;
const FONT = "12px system-ui, sans-serif";

const PLAIN = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });

// Short numbers for an axis, with a decimal point in every language.
function shown(value) {
  const size = Math.abs(value);
  if (size === 0 || (size >= 1e-4 && size < 1e6)) return PLAIN.format(value);
  return Number(value.toPrecision(5)).toExponential().replace("e+", "e");
}

const withUnit = (text, unit) => (unit ? `${text} ${unit}` : text);

const measured = (value, unit) => (value == null ? "–" : withUnit(shown(Number(value.toPrecision(5))), unit));

// The beginning and the end of a long name. Similar names mostly differ at their ends.
function shortened(text, length = LABEL_LENGTH) {
  const letters = [...text];
  const half = (length - 2) / 2;
  return letters.length <= length
    ? text
    : `${letters.slice(0, half).join("")}…${letters.slice(-half).join("")}`;
}

function axis(label, unit, size) {
  const line = () => ink("--grid");
  return {
    label: shortened(label) + (unit ? ` (${unit})` : ""),
    size,
    labelSize: LABEL_HEIGHT,
    font: FONT,
    labelFont: FONT,
    stroke: () => ink("--chart-text"),
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1 },
    values: (_, values) => values.map((value) => (value == null ? "" : shown(value))),
  };
}

// Round numbers on a logarithmic axis: 1, 2 and 5 times powers of ten, or the powers alone where there is no room.
const TICK_WIDTH = 48;
function logTicks(low, high, width) {
  const ticks = (factors) => {
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1)
      for (const factor of factors) found.push(Number(`${factor}e${power}`));
    return found.filter((tick) => tick >= low && tick <= high);
  };
  const all = ticks([1, 2, 5]);
  return all.length * TICK_WIDTH <= width ? all : ticks([1]);
}

function axes(data) {
  const x = axis(data.xLabel, data.xUnit, AXIS_HEIGHT);
  const y = axis(data.yLabel, data.yUnit, AXIS_WIDTH);
  if (data.logX) tickByFactors(x, (plot) => plot.width - AXIS_WIDTH);
  if (data.logY) tickByFactors(y, (plot) => plot.height - AXIS_HEIGHT);
  return [x, y];
}

function tickByFactors(axis, length) {
  axis.splits = (plot, _, low, high) => logTicks(low, high, length(plot));
  axis.filter = (_, splits) => splits;
}

const xScale = ({ logX }) => ({
  time: false,
  ...(logX ? { distr: 3 } : {}),
  range: (_, low, high) => widened(low, high),
});

// A scale needs a width, even for a single value or none.
const widened = (low, high) => (low == null ? [0, 1] : low === high ? [low - 0.5, high + 0.5] : [low, high]);

function element(name, className, ...content) {
  const made = document.createElement(name);
  made.className = className;
  made.append(...content);
  return made;
}

// A button for each series, which hides and shows it.
function legend(figure, series, sample, toggle) {
  const buttons = series.map((one) => {
    const { label } = one;
    const button = element("button", "entry", sample(one), element("bdi", "label", label));
    button.type = "button";
    button.title = label;
    button.ariaPressed = "true";
    button.addEventListener("click", () => toggle(label, button.ariaPressed !== "true"));
    return button;
  });
  figure.querySelector(".legend").append(...buttons);
  return buttons;
}

const plotWidth = (figure) => Math.max(200, figure.querySelector(".plot").clientWidth);

// Resize at once, because printing does not wait.
function resize(plot, width) {
  plot.batch(() => plot.setSize({ width, height: plot.height }));
}
