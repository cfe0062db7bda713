// Two charts over the same axis, redrawn whole: a line and areas that are stacked. They are drawn in
// variables of the style sheet and change with the theme. A unit of the drawing is a pixel of the
// page, so that words can be read on a telephone too.
const HIGH = 250, LEFT = 52, RIGHT = 10, TOP = 10, BOTTOM = 26;

function ticks(most, count) {
  const raw = most / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((by) => by * power).find((by) => by >= raw);
  const values = [];
  for (let value = 0; value <= most * 1.0001; value += step) values.push(value);
  return values;
}

const short = (value) => (value >= 10000 ? `${+(value / 1000).toPrecision(3)}k` : `${+value.toPrecision(3)}`);

function node(name, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// Axes, grid and marks; the answer maps a point of the data into the picture.
function frame(svg, mostX, mostY, marks) {
  const wide = Math.max(svg.clientWidth, 240);
  const x = (value) => LEFT + (value / mostX) * (wide - LEFT - RIGHT);
  const y = (value) => HIGH - BOTTOM - (value / mostY) * (HIGH - TOP - BOTTOM);
  const parts = [];
  for (const value of ticks(mostY, 4)) {
    parts.push(node("line", { class: "grid", x1: LEFT, x2: wide - RIGHT, y1: y(value), y2: y(value) }));
    parts.push(node("text", { class: "tick", x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, short(value)));
  }
  for (const value of ticks(mostX, Math.min(8, wide / 60)))
    parts.push(node("text", { class: "tick", x: x(value), y: HIGH - 8, "text-anchor": "middle" }, short(value)));
  for (const { at, text } of marks) {
    parts.push(node("line", { class: "mark", x1: x(at), x2: x(at), y1: TOP, y2: HIGH - BOTTOM }));
    parts.push(node("text", { class: "tick", x: x(at) + 4, y: TOP + 10 }, text));
  }
  svg.setAttribute("viewBox", `0 0 ${wide} ${HIGH}`);
  svg.replaceChildren(...parts);
  return { x, y };
}

// The speed of each sample as a step: it is the mean over the bytes of the sample.
function drawLine(svg, curve) {
  const mostY = Math.max(1, ...curve.rates) * 1.08;
  const { x, y } = frame(svg, curve.total, mostY, curve.marks);
  let path = "";
  curve.rates.forEach((rate, index) => {
    const [from, to] = [index ? curve.ends[index - 1] : 0, curve.ends[index]];
    path += `${path ? "L" : "M"}${x(from).toFixed(1)} ${y(rate).toFixed(1)}H${x(to).toFixed(1)}`;
  });
  svg.append(node("path", { class: "seen", d: path }));
}

function drawAreas(svg, curve) {
  const sums = curve.ends.map(() => 0);
  for (const area of curve.areas) area.rates.forEach((rate, index) => { sums[index] += rate; });
  const { x, y } = frame(svg, curve.total, Math.max(1, ...sums) * 1.08, curve.marks);
  const below = curve.ends.map(() => 0);
  for (const area of curve.areas) {
    const upper = area.rates.map((rate, index) => below[index] + rate);
    let over = "", back = "";
    upper.forEach((rate, index) => {
      const [from, to] = [index ? curve.ends[index - 1] : 0, curve.ends[index]].map((end) => x(end).toFixed(1));
      over += `${over ? "L" : "M"}${from} ${y(rate).toFixed(1)}H${to}`;
      back = `L${to} ${y(below[index]).toFixed(1)}H${from}${back}`;
    });
    svg.append(node("path", { d: `${over}${back}Z`, fill: `var(--cause-${area.colour})` }));
    upper.forEach((rate, index) => { below[index] = rate; });
  }
}
