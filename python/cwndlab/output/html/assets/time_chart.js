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
  if (data.eventLabel) nameEvents(figure, data);
  const readings = readout(figure, buttons);
  const options = {
    width: plotWidth(figure),
    height: TIME_CHART_HEIGHT,
    legend: { show: false },
    scales: {
      x: xScale(data),
      y: { range: (_, low, high) => data.ySpan ?? fromZero(low, high) },
    },
    axes: axes(data),
    series,
    bands,
    cursor: { y: false, drag: { x: true, y: false }, sync: { key: group.key } },
    hooks: {
      setCursor: [(made) => tellValues(made, data, readings, places)],
      drawClear: [drawPaper, (made) => data.shade && drawShade(made, data.shade)],
      draw: [(made) => drawSpots(made, data.series, places), (made) => drawEvents(made, data.events)],
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
  // The ends of the axis stand before and after the data, so that a reset shows the whole axis.
  const [before, after] = beyond(data);
  const values = [[...before, ...data.x, ...after]];
  const bands = [];
  const add = (made, column) => {
    values.push([...before.map(() => null), ...column, ...after.map(() => null)]);
    return series.push(made) - 1;
  };
  const places = data.series.map(({ look, values: column, low, high }) => {
    const stroke = () => ink(colourName(look));
    const points = { show: isSparse, size: 5, fill: stroke };
    const paths = data.steps ? { paths: uPlot.paths.stepped({ align: 1 }) } : {};
    const line = add({ stroke, width: 1.5, dash: dots(dash(look)), points, ...paths }, column);
    if (!low) return { line, edges: [] };
    const hidden = { width: 0, points: { show: false } };
    const edges = [add(hidden, low), add(hidden, high)];
    bands.push({ series: [edges[1], edges[0]], fill: () => `${ink(colourName(look))}33` });
    return { line, edges };
  });
  return { series, values, bands, places };
}

function beyond({ x, xSpan }) {
  if (!xSpan || !x.length) return [[], []];
  return [xSpan[0] < x[0] ? [xSpan[0]] : [], xSpan[1] > x.at(-1) ? [xSpan[1]] : []];
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

// A part of the axis that does not count, with its name where there is room.
function drawShade(plot, { low, high, label }) {
  const { ctx, bbox } = plot;
  const clipped = (value) => Math.min(bbox.left + bbox.width, Math.max(bbox.left, plot.valToPos(value, "x", true)));
  const [left, right] = [clipped(low), clipped(high)];
  ctx.save();
  ctx.fillStyle = ink("--shade");
  ctx.fillRect(left, bbox.top, right - left, bbox.height);
  ctx.fillStyle = ink("--chart-text");
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textBaseline = "top";
  const gap = 4 * devicePixelRatio;
  if (ctx.measureText(label).width + 2 * gap < right - left) ctx.fillText(label, left + gap, bbox.top + gap / 2);
  ctx.restore();
}

// Marked points of the lines that are shown, with the intervals of their x.
function drawSpots(plot, series, places) {
  const { ctx } = plot;
  ctx.save();
  series.forEach(({ look, spots = [] }, index) => {
    if (!plot.series[places[index].line].show) return;
    ctx.strokeStyle = ctx.fillStyle = ink(colourName(look));
    ctx.lineWidth = 1.5 * devicePixelRatio;
    for (const { x, y, xLow = x, xHigh = x } of spots) {
      const [left, right, top] = [xLow, xHigh].map((end) => plot.valToPos(end, "x", true)).concat(plot.valToPos(y, "y", true));
      ctx.beginPath();
      ctx.moveTo(left, top);
      ctx.lineTo(right, top);
      ctx.stroke();
      ctx.beginPath();
      outline(look, plot.valToPos(x, "x", true), top, 4.5 * devicePixelRatio).forEach((corner) => ctx.lineTo(...corner));
      ctx.fill();
    }
  });
  ctx.restore();
}

const areMany = (events) => events.length > MAX_EVENT_LINES;

// What the strokes mean.
function nameEvents(figure, { events, eventLabel }) {
  const sample = strokeSample(areMany(events));
  figure.querySelector(".legend").append(element("span", "entry", sample, element("bdi", "label", eventLabel)));
}

function drawEvents(plot, events) {
  const { ctx, bbox } = plot;
  const dots = devicePixelRatio;
  const isMany = areMany(events);
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
