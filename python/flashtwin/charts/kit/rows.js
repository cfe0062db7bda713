// From columns to the rows that each kind of chart draws, by the names that its specification uses.
const name = (drive) => DATA.drives[drive].name;

// Columns of about `wide` pixels between the ends of the zoom: the mean of each, and its range.
function columns(curve, axis, zoom, pixels, wide) {
  const [from, to] = domain(zoom), along = curve[axis], made = [];
  const step = ((to - from) * wide) / pixels;
  let i = Math.max(indexBelow(along, from) - 1, 0);
  while (i < along.length - 1 && along[i] < to) {
    let k = i + 1;
    while (k < along.length - 1 && along[k] - along[i] < step) k += 1;
    const seconds = curve.s[k] - curve.s[i];
    const column = { from: along[i], to: along[k], i, k, mean: seconds > 0 ? ((curve.gb[k] - curve.gb[i]) * 1000) / seconds : 0 };
    if (curve.low) {
      column.low = Infinity; column.high = 0;
      for (let n = i; n < k; n += 1) {
        column.low = Math.min(column.low, curve.low[n]);
        column.high = Math.max(column.high, curve.high[n]);
      }
    }
    made.push(column);
    i = k;
  }
  return made;
}

function throughputRows(panel) {
  const axis = axisOf(panel), curves = [], ranges = [], dots = [], pixels = plotWidth(panel.id);
  const shown = curvesOf(panel);
  shown.forEach((curve, line) => {
    const who_ = { drive: name(curve.drive), phase: curve.phase, line };
    // In steps, so that a cliff is one; the last column is said twice to reach its end.
    const means = columns(curve, axis, axis, pixels, 3);
    means.forEach((column, n) => curves.push({ ...who_, n, x: column.from, y: column.mean }));
    if (means.length) curves.push({ ...who_, n: means.length, x: last(means).to, y: last(means).mean });
    for (const column of columns(curve, axis, axis, pixels, 2)) {
      const range = { ...who_, low: column.low, high: column.high };
      ranges.push({ ...range, x: column.from }, { ...range, x: column.from + (column.to - column.from) * 0.999 });
    }
    const places = means.map((column) => [(column.from + column.to) / 2, column.mean]);
    dots.push(...spread(places, axis, line, shown.length, 7).map((dot) => ({ ...who_, ...dot })));
  });
  return { curves, ranges, dots, places: placeRows(panel), truths: truthRows(panel), plateaus: plateauRows(panel), band: bandRows(axis) };
}

// A few of a line's places, apart from those of the other lines.
function spread(places, zoom, line, lines, count) {
  const [low, high] = domain(zoom), xs = places.map(([x]) => x), made = [];
  if (!xs.length) return made;
  for (let k = 0; k < count; k += 1) {
    const x = low + ((high - low) * (k + (line + 0.7) / (lines + 0.4))) / count;
    if (x < xs[0] || x > last(xs)) continue;
    const [at, y] = places[nearest(xs, x)];
    made.push({ x: at, y });
  }
  return made;
}

// The curves whose marks a chart shows: an X-ray those of its drive's phase, over its own axis.
const marked = (panel) => (panel.kind === "areas"
  ? curvesOfGroup().filter((curve) => curve.drive === panel.drive && curve.phase === state.phase) : curvesOf(panel));
const axisOfMarks = (panel) => (panel.kind === "areas" ? axisOfXray() : axisOf(panel));

function placeRows(panel) {
  const axis = axisOfMarks(panel), [low, high] = domain(zoomOf(panel)), width = plotWidth(panel.id);
  const rows = [];
  for (const spot of DATA.places) {
    const curve = marked(panel).find((c) => c.drive === spot.drive && c.label === spot.label && c.direction === "write");
    if (!curve) continue;
    const x = across(curve, spot.gb, "gb", axis);
    if (x < low || x > high) continue;
    const again = curve.phase === curvesOfGroup()[0].phase ? "" : `, ${phaseTitle(curve.phase)}`;
    // On a phone the words of many drives would tower over the plot; the shapes remain.
    const few = width > 420 || state.drives.size <= 2;
    const text = `${GLYPHS[DATA.drives[spot.drive].shape]}${few ? ` ${spot.text}${again}` : ""}`;
    rows.push({ x, drive: name(spot.drive), text });
  }
  return stacked(rows, (x) => ((x - low) / (high - low)) * width, width);
}

// Where a twin's inside has what a finding tells the place of.
function truthRows(panel) {
  const axis = axisOfMarks(panel), [low, high] = domain(zoomOf(panel)), rows = [];
  for (const truth of DATA.truths) {
    const curve = marked(panel).find((c) => c.drive === truth.drive && c.label === truth.label && c.direction === "write");
    const x = curve ? across(curve, truth.gb, "gb", axis) : low - 1;
    if (x >= low && x <= high) rows.push({ x, drive: name(truth.drive) });
  }
  return rows;
}

// The speed of each plateau over its line, where there is room for it; no label lies on another.
function plateauRows(panel) {
  const axis = axisOf(panel), [low, high] = domain(axis), width = plotWidth(panel.id), top = scalesOf(panel).y1;
  const rows = [], taken = [];
  for (const plateau of DATA.plateaus) {
    const curve = curvesOf(panel).find((c) => c.drive === plateau.drive && c.label === plateau.label && c.direction === "write");
    if (!curve) continue;
    const text = `${significant(plateau.speed, 3)} MB/s`, half = text.length * 3.6;
    const [from, to] = [plateau.from, plateau.to].map((gb) => ((Math.min(Math.max(across(curve, gb, "gb", axis), low), high) - low) / (high - low)) * width);
    const y = 300 * (1 - plateau.speed / top);
    const free = [0.5, 0.3, 0.7, 0.15, 0.85].map((share) => from + (to - from) * share)
      .map((at) => Math.min(Math.max(at, half), width - half))
      .find((at) => taken.every((box) => Math.abs(box.at - at) > box.half + half + 6 || Math.abs(box.y - y) > 16));
    if (to - from < half || free === undefined) continue;
    taken.push({ at: free, half, y });
    rows.push({ x: low + (free / width) * (high - low), y: plateau.speed, drive: name(plateau.drive), text });
  }
  return rows;
}

// Labels that would meet stand in rows above each other.
function stacked(rows, pixel, width) {
  const used = [];
  rows.sort((a, b) => a.x - b.x);
  for (const row of rows) {
    const long = row.text.length * 6.1, at = pixel(row.x);
    row.left = at + long > width && at > width / 2;
    const from = row.left ? at - long : at, to = from + long;
    row.row = used.findIndex((spans) => spans.every(([a, b]) => to + 8 < a || from - 8 > b));
    if (row.row < 0) row.row = used.push([]) - 1;
    used[row.row].push([from, to]);
  }
  return rows;
}

// The stretch that the finding pointed at, or pinned, rests on.
function bandRows(axis) {
  const chosen = state.pointed ?? state.pinned;
  if (!chosen) return [];
  const evidence = DATA.findings[chosen.drive]?.[chosen.id]?.evidence;
  if (!evidence || evidence.axis === "cell") return [];
  const curve = curvesOfGroup().find((c) => c.drive === chosen.drive && c.label === evidence.label);
  if (!curve) return [];
  const from = evidence.axis === "bytes" ? "gb" : "s", scale = from === "gb" ? 1e9 : 1;
  const [x, x2] = [evidence.start, evidence.end].map((v) => across(curve, v / scale, from, axis));
  return [{ x, x2, drive: name(chosen.drive) }];
}

// By how many % the other drive is faster, up to each place; cut where the axis is.
function deltaRows(panel) {
  const curves = [], mine = deltasOf(panel);
  mine.forEach((delta, line) => {
    const who_ = { drive: name(delta.drive), phase: delta.phase, line };
    delta.percent.forEach((y, n) => curves.push({ ...who_, n, x: delta.gb[n], y }));
    curves.push({ ...who_, n: delta.percent.length, x: last(delta.gb), y: last(delta.percent) });
  });
  return { curves, even: [{ y: 0 }] };
}

// Round ends around what is reached, and around 0, which is the rule.
function percents(panel) {
  const all = deltasOf(panel).flatMap((delta) => delta.percent);
  const high = most(all), low = most(all.map((value) => -value)), least = 0.02 * Math.max(high, low, 1);
  return { y0: low > least ? -roundTop(low) : -roundTop(least), y1: roundTop(Math.max(high, least)) };
}

function areaRows(panel) {
  const { drive } = panel;
  const axis = axisOfXray(), areas = [], host = [];
  const inside = insides().find((entry) => entry.drive === drive);
  if (inside) {
    inside[axis].forEach((x, n) => {
      DATA.causes.forEach((cause, rank) => areas.push({ x, y: inside[cause.id][n] ?? 0, cause: cause.title, rank }));
    });
    const means = columns(inside, axis, zoomOfXray(), plotWidth(`areas-${drive}`), 5);
    means.forEach((column, n) => host.push({ x: column.from, y: column.mean, n }));
    if (means.length) host.push({ x: last(means).to, y: last(means).mean, n: means.length });
  }
  return { areas, host, places: placeRows(panel), truths: truthRows(panel) };
}

function gaugeRows(gauge) {
  const axis = axisOfXray(), curves = [], dots = [];
  const shown = insides().filter((inside) => inside[gauge]);
  shown.forEach((inside, line) => {
    const who_ = { drive: name(inside.drive), line };
    const places = inside[axis].map((x, n) => [x, inside[gauge][n]]).filter(([, y]) => y !== null);
    places.forEach(([x, y], n) => curves.push({ ...who_, n, x, y }));
    dots.push(...spread(places, zoomOfXray(), line, shown.length, 5).map((dot) => ({ ...who_, ...dot })));
  });
  return { curves, dots };
}

// The cells of a grid that a chart of bars or dots shows; bars show those of one kind.
const cellsOf = (panel) => DATA.cells.filter((row) => row.grid === panel.grid
  && (panel.cells === undefined || row.kind === panel.cells) && Number.isFinite(row[panel.metric]));

function cellRows(panel) {
  return {
    cells: cellsOf(panel).filter((row) => (panel.way ? row.way === panel.way : row.drive === panel.drive)).map((row) => {
      const value = row[panel.metric];
      // A chart of one drive has the ways beside each other, each with a colour and a shape.
      const way = panel.way ? null : DATA.grids[panel.grid].ways[row.way];
      const others = DATA.grids[panel.grid].metrics.filter((metric) => metric.id !== panel.metric && Number.isFinite(row[metric.id]));
      return {
        drive: way?.title ?? name(row.drive), line: `${name(row.drive)} ${row.kind}`, depth: row.depth, glyph: GLYPHS[way?.shape ?? DATA.drives[row.drive].shape], cell: row.cell, value, high: Math.max(row[`${panel.metric}_high`] ?? value, value),
        text: panel.unit === "us" ? micro(value) : significant(value, 3),
        shown: inUnit(value, panel.unit),
        beside: panel.unit === "MB/s" ? speedToo(value) : others.map((metric) => inUnit(row[metric.id], metric.unit)).at(-1) ?? "",
      };
    }),
  };
}

const inUnit = (value, unit) => (unit === "us" ? micro(value, 4) : `${significant(value)} ${unit}`.trim());
const micro = (us, digits = 3) => (us >= 1000 ? `${significant(us / 1000, digits)} ms` : `${significant(us, digits)} µs`);

// A drive's rate at each depth; cells of one depth count once.
function depthRows(panel) {
  const curves = cellsOf(panel).filter((row) => row.way === panel.way && row.depth)
    .map((row) => ({ drive: name(row.drive), x: row.depth, y: row[panel.metric] })).sort((a, b) => a.x - b.x);
  return { curves, dots: curves };
}

// A drive's values at each size, and where they begin to grow.
function sizeRows(panel) {
  const curves = cellsOf(panel).filter((row) => row.way === panel.way && row.size)
    .map((row) => ({ drive: name(row.drive), x: row.size, y: row[panel.metric] })).sort((a, b) => a.x - b.x);
  const { x0, x1 } = scalesOf(panel), width = plotWidth(panel.id);
  const rows = panel.knees.map(({ drive, x, text }) => ({ drive: name(drive), x, text: `${GLYPHS[DATA.drives[drive].shape]} ${text}` }));
  const places = stacked(rows, (x) => (Math.log(x / x0) / Math.log(x1 / x0)) * width, width);
  return { curves, dots: curves, places };
}

const tails = () => DATA.latencies.filter((tail) => tail.step === state.latency);

function tailRows() {
  const curves = [], dots = [];
  tails().forEach((tail, line) => {
    const rows = tail.nines.map((x, n) => ({ drive: name(tail.drive), line, n, x, y: tail.us[n] }));
    curves.push(...rows);
    dots.push(...rows.filter((row) => Number.isInteger(row.x)));
  });
  return { curves, dots };
}

function rowsOf(panel) {
  if (panel.kind === "depth") return depthRows(panel);
  if (panel.kind === "size") return sizeRows(panel);
  if (panel.kind === "latency") return tailRows();
  if (panel.kind === "throughput") return throughputRows(panel);
  if (panel.kind === "delta") return deltaRows(panel);
  if (panel.kind === "areas") return areaRows(panel);
  if (panel.kind === "gauge") return gaugeRows(panel.gauge);
  return cellRows(panel);
}

// The ends of the scales: x0, x1, y1 and for gauges y0 of the specification.
function scalesOf(panel) {
  if (panel.kind === "throughput") {
    const [x0, x1] = domain(axisOf(panel));
    return { x0, x1, y1: roundTop(most(curvesOfGroup().map((curve) => most(curve.high)))) };
  }
  if (panel.kind === "delta") {
    const [x0, x1] = domain(axisOf(panel));
    return { x0, x1, ...percents(panel) };
  }
  if (panel.kind === "areas") {
    const [x0, x1] = domain(zoomOfXray());
    const sums = insides().map((inside) => most(inside.s.map((s, n) => Math.max(
      DATA.causes.reduce((sum, cause) => sum + (inside[cause.id][n] ?? 0), 0), inside.host[n] ?? 0))));
    return { x0, x1, y1: roundTop(most(sums)) };
  }
  if (panel.kind === "gauge") {
    const [x0, x1] = domain(zoomOfXray());
    const drawn = insides().map((inside) => inside[panel.gauge] ?? []);
    if (panel.gauge === "heat") return { x0, x1, ...degrees(drawn.flat()) };
    return { x0, x1, y0: 0, y1: roundTop(most(drawn.map(most))) };
  }
  if (panel.kind === "latency") {
    const all = tails().flatMap((tail) => tail.us).filter((value) => value > 0);
    return { x1: Math.max(...tails().flatMap((tail) => tail.nines), 1) + 0.15, y0: Math.min(...all, 1e6) / 1.3, y1: Math.max(most(all), 0.1) * 1.3 };
  }
  if (panel.kind === "depth") {
    const rows = cellsOf(panel);
    return { x1: most(rows.map((row) => row.depth)) * 1.1, y1: roundTop(most(rows.map((row) => row[panel.metric]))) };
  }
  const values = cellsOf(panel).map((row) => row[panel.metric]);
  if (panel.kind === "size") {
    const sizes = cellsOf(panel).map((row) => row.size).filter((size) => size);
    return { x0: Math.min(...sizes) / 1.2, x1: most(sizes) * 1.2, y1: roundTop(most(values)) };
  }
  if (panel.kind === "bars") return { x1: most(values) * 1.27, y1: 1 };
  const low = Math.min(...values.filter((value) => value > 0));
  if (panel.kind === "heat") return { x0: low, x1: Math.max(most(values), low * 1.01), y1: 1 };
  const highs = cellsOf(panel).map((row) => row[`${panel.metric}_high`] ?? row[panel.metric]);
  return { x0: low / 1.6, x1: Math.max(most(highs), most(values), low) * 6, y1: 1 };
}

// Whole fives of degrees around what was reached: from zero every drive would draw a flat line.
function degrees(values) {
  const known = values.filter(Number.isFinite), fives = (round, value) => 5 * round(value / 5);
  const low = known.reduce((least, value) => Math.min(least, value), Infinity);
  if (!known.length) return { y0: 0, y1: 1 };
  return { y0: fives(Math.floor, low - 0.5), y1: fives(Math.ceil, most(known) + 0.5) };
}

function most(values) {
  let top = 0;
  for (const value of values) if (value > top) top = value;
  return top;
}
