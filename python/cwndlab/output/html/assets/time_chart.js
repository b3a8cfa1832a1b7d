// Lines over time, with bands and events.

const TIME_CHART_HEIGHT = 230;

// More events than this are drawn as short strokes at the bottom of the chart.
const MAX_EVENT_LINES = 40;
const EVENT_REACH = 6;
const KEY_STEPS = 200;

// The axis starts at zero, because windows and rates are read against it.
function fromZero(low, high) {
  if (low == null) return [0, 1];
  return low === 0 && high === 0 ? [0, 1] : uPlot.rangeNum(Math.min(0, low), Math.max(0, high), 0.08, true);
}

function timeChart(figure, data, group) {
  const { series, values, bands, places } = timeSeries(data);
  const buttons = legend(figure, data.series, lineSample, group.toggle);
  const readings = readout(figure, buttons);
  const options = {
    width: plotWidth(figure),
    height: TIME_CHART_HEIGHT,
    legend: { show: false },
    scales: {
      x: { time: false, range: (_, low, high) => widened(low, high) },
      y: { range: (_, low, high) => fromZero(low, high) },
    },
    axes: axes(data),
    series,
    bands,
    cursor: { y: false, drag: { x: true, y: false }, sync: { key: group.key } },
    hooks: {
      setCursor: [(made) => tellValues(made, data, readings, places)],
      drawClear: [drawPaper],
      draw: [(made) => drawEvents(made, data.events)],
    },
  };
  const plot = new uPlot(options, values, figure.querySelector(".plot"));
  return {
    figure,
    plot,
    show(label, isShown) {
      data.series.forEach((one, index) => {
        if (one.label !== label) return;
        buttons[index].ariaPressed = String(isShown);
        const { line, edges } = places[index];
        [line, ...edges].forEach((place) => plot.setSeries(place, { show: isShown }));
      });
    },
    step: (steps) => stepInTime(plot, steps),
    follow: () => {},
  };
}

// Each line, and after it the edges of its band, as series of uPlot.
function timeSeries(data) {
  const series = [{}];
  const values = [data.x];
  const bands = [];
  const add = (made, column) => {
    values.push(column);
    return series.push(made) - 1;
  };
  const places = data.series.map(({ look, values: column, low, high }) => {
    const stroke = () => ink(colourName(look));
    const points = { show: isSparse, size: 5, fill: stroke };
    const line = add({ stroke, width: 1.5, dash: dots(dash(look)), points }, column);
    if (!low) return { line, edges: [] };
    const hidden = { width: 0, points: { show: false } };
    const edges = [add(hidden, low), add(hidden, high)];
    bands.push({ series: [edges[1], edges[0]], fill: () => `${ink(colourName(look))}33` });
    return { line, edges };
  });
  return { series, values, bands, places };
}

// Dashes are drawn in dots, not in pixels of the page.
const dots = (lengths) => lengths.map((length) => length * devicePixelRatio);

// A value without neighbours has no line, so it is drawn as a point.
function isSparse(plot, place) {
  const there = plot.data[place].filter((value) => value != null).length;
  return there < 3 || there < plot.data[place].length / 2;
}

// Shows the values under the cursor: next to the names, with the time above them.
function readout(figure, buttons) {
  const values = buttons.map(() => element("span", "value"));
  buttons.forEach((button, index) => button.append(values[index]));
  const position = element("span", "position");
  figure.append(position);
  return { values, position };
}

function tellValues(plot, data, { values, position }, places) {
  const { idx, left } = plot.cursor;
  const isOver = idx != null && left >= 0;
  values.forEach((value, index) => {
    const { line, edges } = places[index];
    value.textContent = isOver ? valueText(plot, [line, ...edges], idx, data.yUnit) : "";
  });
  const near = isOver ? data.events.filter(({ x }) => Math.abs(plot.valToPos(x, "x") - left) < EVENT_REACH) : [];
  position.textContent = isOver
    ? [measured(plot.data[0][idx], data.xUnit), ...near.slice(0, 3).map(({ label }) => shortened(label))].join(" · ")
    : "";
}

function valueText(plot, [line, low, high], idx, unit) {
  const text = measured(plot.data[line][idx], unit);
  if (low == null || plot.data[low][idx] == null || plot.data[high][idx] == null) return text;
  return `${text} (${measured(plot.data[low][idx])} to ${measured(plot.data[high][idx])})`;
}

// An opaque ground, so that a chart is readable wherever it is copied to.
function drawPaper({ ctx }) {
  ctx.save();
  ctx.fillStyle = ink("--paper");
  ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  ctx.restore();
}

function drawEvents(plot, events) {
  const { ctx, bbox } = plot;
  const dots = devicePixelRatio;
  const isMany = events.length > MAX_EVENT_LINES;
  const places = events
    .map(({ x, label }) => ({ at: plot.valToPos(x, "x", true), label: shortened(label) }))
    .filter(({ at }) => at >= bbox.left && at <= bbox.left + bbox.width)
    .sort((one, other) => one.at - other.at);
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = ink("--chart-text");
  ctx.lineWidth = dots;
  ctx.setLineDash(isMany ? [] : [3 * dots, 3 * dots]);
  ctx.font = `${11 * dots}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  ctx.beginPath();
  places.forEach(({ at, label }, index) => {
    const foot = bbox.top + bbox.height;
    ctx.moveTo(at, isMany ? foot - 8 * dots : bbox.top);
    ctx.lineTo(at, foot);
    const room = (places[index + 1]?.at ?? bbox.left + bbox.width) - at - 8 * dots;
    if (!isMany && ctx.measureText(label).width <= room) ctx.fillText(label, at + 4 * dots, bbox.top + 2 * dots);
  });
  ctx.stroke();
  ctx.restore();
}

function stepInTime(plot, steps) {
  const times = plot.data[0];
  if (!times.length) return;
  const [first, last] = plot.series[0].idxs;
  const stride = Math.max(1, Math.round((last - first) / KEY_STEPS));
  const from = plot.cursor.left >= 0 ? plot.cursor.idx : first;
  const to = Math.min(last, Math.max(first, from + steps * stride));
  plot.setCursor({ left: plot.valToPos(times[to], "x"), top: 1 }, true, true);
}
