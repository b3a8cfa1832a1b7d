// Starts the page: charts, tables, buttons, and reactions to window size, colour scheme and print.

const CHART_KINDS = { time: timeChart, scatter: scatterChart };
const ZOOM_FACTOR = { "+": 0.5, "=": 0.5, "-": 2 };
const STEPS = { ArrowLeft: -1, ArrowRight: 1 };
const PRINT_WIDTH = 680;

// Charts of one group share cursor, zoom and hidden series.
function makeGroup(box, index) {
  const charts = [];
  const group = {
    key: `charts-${index}`,
    toggle: (label, isShown) => charts.forEach((chart) => chart.show(label, isShown)),
  };
  for (const figure of box.querySelectorAll(".chart")) {
    const script = figure.querySelector("script");
    charts.push(CHART_KINDS[script.dataset.chart](figure, JSON.parse(script.textContent), group));
  }
  charts.forEach((chart) => steerByKeys(chart, charts));
  box.querySelector(".how").hidden = false;
  return charts;
}

function steerByKeys(chart, group) {
  chart.figure.querySelector(".plot").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in STEPS) chart.step(STEPS[event.key] * (event.shiftKey ? 10 : 1));
    else if (event.key in ZOOM_FACTOR) group.forEach(({ plot }) => zoom(plot, ZOOM_FACTOR[event.key]));
    else if (event.key === "Escape") group.forEach(({ plot }) => zoom(plot, Infinity));
    else if (event.key === "Enter") chart.follow();
    else return;
    event.preventDefault();
  });
}

// Zoom around the cursor or the middle, but not beyond the data.
function zoom(plot, factor) {
  const times = plot.data[0];
  if (!times.length) return;
  const { min, max } = plot.scales.x;
  const [first, last] = widened(times[0], times.at(-1));
  const centre = plot.cursor.left >= 0 ? plot.posToVal(plot.cursor.left, "x") : (min + max) / 2;
  const half = (factor * (max - min)) / 2;
  plot.setScale("x", { min: Math.max(first, centre - half), max: Math.min(last, centre + half) });
}

// Shrink a table that is too wide for the paper even with line breaks.
function fitTable(table, width) {
  table.style.width = `${width}px`;
  table.style.zoom = Math.min(1, width / table.offsetWidth);
  table.style.width = "";
}

const charts = [...document.querySelectorAll(".charts")].flatMap(makeGroup);
document.querySelectorAll("table.sortable").forEach(makeSortable);
document.querySelectorAll("input.search").forEach(makeSearchable);
document.querySelectorAll("button.copy").forEach(makeCopying);

const redrawAll = () => charts.forEach(({ plot }) => plot.redraw());
const fitAll = () => charts.forEach(({ figure, plot }) => resize(plot, plotWidth(figure)));

// A link into a folded part opens it. Charts get their size when they are first seen.
const folded = [...document.querySelectorAll("details.folded")];
folded.forEach((part) => part.addEventListener("toggle", fitAll));
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const part = target?.closest("details.folded");
  if (part && !part.open) {
    part.open = true;
    target.scrollIntoView();
  }
}
addEventListener("hashchange", openTarget);
openTarget();

addEventListener("resize", fitAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
addEventListener("beforeprint", () => {
  document.documentElement.classList.add("printing");
  charts.forEach(({ plot }) => resize(plot, PRINT_WIDTH));
  document.querySelectorAll("table").forEach((table) => fitTable(table, PRINT_WIDTH));
});
addEventListener("afterprint", () => {
  document.documentElement.classList.remove("printing");
  document.querySelectorAll("table").forEach((table) => (table.style.zoom = ""));
  fitAll();
});
