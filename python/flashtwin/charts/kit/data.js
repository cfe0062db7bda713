// What the reader chose. With the data of the page it decides what is drawn.
const state = {
  group: DATA.groups.length ? DATA.groups[0].id : null,
  phase: DATA.xray.length ? DATA.xray[0].phase : null,
  axis: "gb",
  latency: DATA.latencies.length ? DATA.latencies[0].step : null,
  drives: new Set(DATA.drives.map((drive, index) => index)),
  phases: new Set(DATA.shown_phases),
  zoom: { gb: null, s: null, rest: null },
  pinned: null,
  pointed: null,
};

// Places came as the steps between them, in parts of a GB or a second.
function places({ by, steps }) {
  let sum = 0;
  return [0, ...steps.map((step) => ((sum += step) * by) / 1e9)];
}
for (const curve of [...DATA.curves, ...DATA.xray, ...DATA.deltas]) {
  curve.gb = places(curve.gb);
  if (curve.s) curve.s = places(curve.s);
}

// A column that is the same all along came as one number.
for (const inside of DATA.xray) {
  for (const [key, value] of Object.entries(inside)) {
    if (typeof value === "number" && key !== "drive") inside[key] = new Array(inside.s.length).fill(value);
  }
}

const MIB = 1e6 / (1 << 20);
const GLYPHS = {
  circle: "●", square: "■", "triangle-up": "▲", diamond: "◆", cross: "✚", "triangle-down": "▼",
};

function significant(value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const exponent = Number(value.toExponential(digits - 1).split("e")[1]);
  const places = Math.max(digits - 1 - exponent, 0);
  return value.toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places })
    .replace("-", "\u2212");
}

function clock(seconds) {
  if (seconds < 100) return `${significant(seconds, 3)} s`;
  const whole = Math.round(seconds);
  const hours = Math.floor(whole / 3600), minutes = Math.floor((whole % 3600) / 60), left = whole % 60;
  return hours ? `${hours} h ${minutes} min` : `${minutes} min ${left} s`;
}

const speed = (mbs) => `${significant(mbs)} MB/s`;
const speedToo = (mbs) => `${significant(mbs * MIB)} MiB/s`;
const place = (value, axis) => (axis === "gb" ? `${significant(value)} GB` : clock(value));
const phaseTitle = (name) => DATA.phase_titles[name] ?? name;

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") made.className = value;
    else if (name === "style") made.style.cssText = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function say(text) { $("#announced").textContent = text; }

// The last index at which `values`, which rise, are not above `x`; 0 where all are.
function indexBelow(values, x) {
  let low = 0, high = values.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (values[middle] <= x) low = middle; else high = middle - 1;
  }
  return low;
}

function nearest(values, x) {
  const at = indexBelow(values, x);
  return at + 1 < values.length && values[at + 1] - x < x - values[at] ? at + 1 : at;
}

const last = (values) => values[values.length - 1];

// A place on curve axis as a place on another; `curve` has rising columns for both.
function across(curve, x, from, to) {
  if (from === to) return x;
  const xs = curve[from], ys = curve[to], at = Math.min(indexBelow(xs, x), xs.length - 2);
  const share = xs[at + 1] > xs[at] ? Math.min(Math.max((x - xs[at]) / (xs[at + 1] - xs[at]), 0), 1) : 1;
  return ys[at] + share * (ys[at + 1] - ys[at]);
}

const curvesOfGroup = () => DATA.curves.filter((curve) => curve.group === state.group);
const shownCurves = () => curvesOfGroup()
  .filter((curve) => state.drives.has(curve.drive) && state.phases.has(curve.phase));
// A chart of two runs has only theirs.
const curvesOf = (panel) => shownCurves()
  .filter((curve) => !panel.drives || panel.drives.includes(curve.drive));
const deltasOf = (panel) => DATA.deltas.filter((delta) => delta.pair === panel.pair && delta.group === state.group
  && state.phases.has(delta.phase) && state.drives.has(delta.drive));
// Charts whose curves follow the choice of pattern, drives and passes.
const ofChoice = (panel) => panel.kind === "throughput" || panel.kind === "delta";
const insides = () => DATA.xray
  .filter((inside) => inside.group === state.group && inside.phase === state.phase);

function resting() {
  const mine = insides();
  return mine.length > 0 && mine.every((inside) => last(inside.gb) === 0);
}

// The X-ray shares its axis, and so its zoom, with the throughput chart; a rest has an axis of its own.
const axisOfXray = () => (resting() ? "s" : state.axis);
const zoomOfXray = () => (resting() ? "rest" : state.axis);
// Charts of two runs are over data only.
const axisOf = (panel) => panel.axis ?? state.axis;

function extent(zoom) {
  const axis = zoom === "rest" ? "s" : zoom;
  const ends = zoom === "rest" ? [] : curvesOfGroup().map((curve) => last(curve[axis]));
  if (zoom === zoomOfXray()) ends.push(...insides().map((inside) => last(inside[axis])));
  return [0, Math.max(...ends, 1e-9)];
}

const domain = (zoom) => state.zoom[zoom] ?? extent(zoom);

// A round number not below a value, with a little air above it.
function roundTop(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value * 1.02 || step === 10);
}
