// Points with their intervals. A stepped line joins the points on the front, which are named.

const SCATTER_HEIGHT = 400;
const SIGN_RADIUS = 6;
const POINT_REACH = 18;
const MARGIN = 0.06;
const NAME_LENGTH = 26;

function scatterChart(figure, data, group) {
  const points = data.points;
  const hidden = new Set();
  const visible = () => points.filter(({ look }) => !hidden.has(look));
  const extents = {
    x: data.xSpan ?? extent(points, "x", "xLow", "xHigh"),
    y: data.ySpan ?? extent(points, "y", "yLow", "yHigh"),
  };
  const tip = element("div", "tip");
  tip.hidden = true;
  let current = null;
  const buttons = legend(figure, data.series, signSample, group.toggle);
  nameSigns(figure, data.keys ?? []);
  const showNearest = (made) => {
    current = nearest(made, visible());
    showTip(made, tip, current, data);
  };
  const options = {
    width: plotWidth(figure),
    height: SCATTER_HEIGHT,
    legend: { show: false },
    scales: { x: xScale(data), y: { ...(data.logY ? { distr: 3 } : {}), range: () => extents.y } },
    axes: axes(data),
    series: [{}, ...data.series.map(() => ({ paths: () => null, points: { show: false } }))],
    cursor: { x: false, y: false, points: { show: false }, drag: { x: true, y: true, uni: 20 } },
    hooks: { setCursor: [showNearest], drawClear: [drawPaper], draw: [(made) => drawPoints(made, visible())] },
  };
  const plot = new uPlot(options, aligned(data, extents.x), figure.querySelector(".plot"));
  plot.over.append(tip);
  const follow = () => current?.href && location.assign(current.href);
  plot.over.addEventListener("click", follow);
  return {
    figure,
    plot,
    show(label, isShown) {
      const index = data.series.findIndex((one) => one.label === label);
      buttons[index].ariaPressed = String(isShown);
      hidden[isShown ? "delete" : "add"](data.series[index].look);
      plot.redraw();
    },
    step: (steps) => stepOverPoints(plot, visible(), current, steps),
    follow,
  };
}

// From the least to the greatest end of any interval, with a margin.
function extent(points, ...keys) {
  const ends = points.flatMap((point) => keys.map((key) => point[key])).filter((end) => end != null);
  if (!ends.length) return [0, 1];
  const [low, high] = widened(ends.reduce((a, b) => Math.min(a, b)), ends.reduce((a, b) => Math.max(a, b)));
  const margin = MARGIN * (high - low);
  return [low - margin, high + margin];
}

// Columns for uPlot: every x once, in order, with one column of y for each series. The x include the ends of the
// scale, so that a reset shows the whole intervals.
function aligned({ series, points }, [low, high]) {
  const sorted = [...points].sort((one, other) => one.x - other.x);
  const column = (look) => [null, ...sorted.map((point) => (point.look === look ? point.y : null)), null];
  return [[low, ...sorted.map(({ x }) => x), high], ...series.map(({ look }) => column(look))];
}

// What the markers mean.
function nameSigns(figure, keys) {
  const entries = keys.map((key) => element("span", "entry", signSample(key), element("bdi", "label", key.label)));
  figure.querySelector(".legend").append(...entries);
}

function drawPoints(plot, points) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  drawFront(plot, points);
  points.forEach((point) => drawIntervals(plot, point));
  points.forEach((point) => drawSign(plot, point));
  nameFront(plot, points);
  ctx.restore();
}

function drawFront(plot, points) {
  const { ctx } = plot;
  ctx.beginPath();
  points
    .filter(({ front }) => front)
    .sort((one, other) => one.x - other.x)
    .map(({ x, y }) => [plot.valToPos(x, "x", true), plot.valToPos(y, "y", true)])
    .forEach(([left, top], index, places) => {
      // Between two points the gain is that of the cheaper one.
      if (index) ctx.lineTo(left, places[index - 1][1]);
      ctx.lineTo(left, top);
    });
  ctx.strokeStyle = ink("--chart-text");
  ctx.lineWidth = devicePixelRatio;
  ctx.stroke();
}

// Names of the points on the front, where they hide neither a point nor another name. A name stands beside its point if no
// other point is as near to it, or else farther away at the end of a line.
const NAME_PLACES = [[-1, -1], [1, 1], [0, -1], [0, 1], [1, -1], [-1, 1]];
const NAME_CLEARANCE = 10;
const NAME_DISTANCES = [0, 18, 36];
function nameFront(plot, points) {
  const { ctx, bbox } = plot;
  const dots = devicePixelRatio;
  const places = points.map(({ x, y }) => [plot.valToPos(x, "x", true), plot.valToPos(y, "y", true)]);
  const reach = (SIGN_RADIUS + 2) * dots;
  const around = ([left, top], size) => [left - size, top - size, left + size, top + size];
  const names = [];
  ctx.font = `${11 * dots}px system-ui, sans-serif`;
  ctx.fillStyle = ctx.strokeStyle = ink("--chart-text");
  ctx.lineWidth = dots;
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  points.forEach(({ front, label }, index) => {
    if (!front) return;
    const text = shortened(label, NAME_LENGTH);
    const [width, height] = [ctx.measureText(text).width, 13 * dots];
    const [x, y] = places[index];
    const boxes = NAME_DISTANCES.flatMap((away) => NAME_PLACES.map(([right, down]) => {
      const left = x + right * (reach + away * dots + width / 2) - width / 2;
      const top = y + down * (reach + away * dots + height / 2) - height / 2;
      return { away, box: [left, top, left + width, top + height] };
    }));
    const isFree = ({ away, box }) => {
      const clear = reach + (away ? 0 : NAME_CLEARANCE * dots);
      const signs = places.map((place, other) => around(place, other === index ? reach : clear));
      return isInside(box, bbox) && ![...signs, ...names].some((other) => overlaps(box, other));
    };
    const free = boxes.find(isFree);
    if (!free) return;
    const [left, top] = free.box;
    names.push(free.box);
    if (free.away) drawLeader(ctx, [x, y], free.box, reach);
    ctx.fillText(text, left, top);
  });
}

// From the edge of a point's sign to the nearest point of its name's box.
function drawLeader(ctx, [x, y], [left, top, right, bottom], reach) {
  const [toX, toY] = [Math.min(Math.max(x, left), right), Math.min(Math.max(y, top), bottom)];
  const share = reach / Math.hypot(toX - x, toY - y);
  ctx.beginPath();
  ctx.moveTo(x + share * (toX - x), y + share * (toY - y));
  ctx.lineTo(toX, toY);
  ctx.stroke();
}

const isInside = ([left, top, right, bottom], box) =>
  left >= box.left && top >= box.top && right <= box.left + box.width && bottom <= box.top + box.height;

const overlaps = (one, other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];

function drawIntervals(plot, { look, x, y, xLow = x, xHigh = x, yLow = y, yHigh = y }) {
  const { ctx } = plot;
  const [across, up] = [(value) => plot.valToPos(value, "x", true), (value) => plot.valToPos(value, "y", true)];
  ctx.beginPath();
  ctx.moveTo(across(xLow), up(y));
  ctx.lineTo(across(xHigh), up(y));
  ctx.moveTo(across(x), up(yLow));
  ctx.lineTo(across(x), up(yHigh));
  ctx.strokeStyle = ink(colourName(look));
  ctx.lineWidth = 1.25 * devicePixelRatio;
  ctx.stroke();
}

function drawSign(plot, { look, sign, x, y }) {
  const { ctx } = plot;
  const [left, top] = [plot.valToPos(x, "x", true), plot.valToPos(y, "y", true)];
  const radius = SIGN_RADIUS * devicePixelRatio;
  const shape = new Path2D();
  outline(sign, left, top, radius).forEach((corner) => shape.lineTo(...corner));
  shape.closePath();
  ctx.fillStyle = ink("--paper");
  ctx.fill(shape);
  ctx.save();
  ctx.clip(shape);
  const [right, down, width, height] = filling(look).map((share) => 2 * radius * share);
  ctx.fillStyle = ctx.strokeStyle = ink(colourName(look));
  ctx.fillRect(left - radius + right, top - radius + down, width, height);
  ctx.restore();
  ctx.strokeStyle = ink(colourName(look));
  ctx.lineWidth = 1.75 * devicePixelRatio;
  ctx.stroke(shape);
}

// The point under or near the cursor.
function nearest(plot, points) {
  const { left, top } = plot.cursor;
  if (left < 0) return null;
  const reach = ({ x, y }) => Math.hypot(plot.valToPos(x, "x") - left, plot.valToPos(y, "y") - top);
  const close = points.filter((point) => reach(point) <= POINT_REACH);
  return close.sort((one, other) => reach(one) - reach(other))[0] ?? null;
}

function showTip(plot, tip, point, data) {
  tip.hidden = point === null;
  plot.over.style.cursor = point?.href ? "pointer" : "";
  if (point === null) return;
  const lines = [
    described(data.xLabel, data.xUnit, point.x, point.xLow, point.xHigh),
    described(data.yLabel, data.yUnit, point.y, point.yLow, point.yHigh),
    ...(point.hint ? [point.hint] : []),
  ];
  tip.replaceChildren(
    element("strong", "", shortened(point.label)),
    ...lines.map((line) => element("span", "", line)),
  );
  const [left, top] = [plot.valToPos(point.x, "x"), plot.valToPos(point.y, "y")];
  const isRight = left > plot.over.clientWidth / 2;
  const isLow = top > plot.over.clientHeight / 2;
  tip.style.left = isRight ? "auto" : `${left + 12}px`;
  tip.style.right = isRight ? `${plot.over.clientWidth - left + 12}px` : "auto";
  tip.style.top = isLow ? "auto" : `${top + 8}px`;
  tip.style.bottom = isLow ? `${plot.over.clientHeight - top + 8}px` : "auto";
}

function described(label, unit, value, low, high) {
  const interval = low == null || high == null ? "" : ` (${measured(low)} to ${measured(high)})`;
  return `${shortened(label)}: ${measured(value, unit)}${interval}`;
}

function stepOverPoints(plot, points, current, steps) {
  const sorted = [...points].sort((one, other) => one.x - other.x);
  if (!sorted.length) return;
  const from = sorted.indexOf(current);
  const to = from < 0 ? 0 : Math.min(sorted.length - 1, Math.max(0, from + steps));
  plot.setCursor({ left: plot.valToPos(sorted[to].x, "x"), top: plot.valToPos(sorted[to].y, "y") }, true, false);
}
