// The line under the pointer in all charts over the same axis, and the values there.
const tip = $("#tip");

function pointAt(panel, clientX) {
  const at = frame(panel);
  if (!at) return null;
  const pixel = clientX - at.host.left - at.left;
  if (pixel < 0 || pixel > at.width) return null;
  const [low, high] = domain(zoomOf(panel));
  return low + ((high - low) * pixel) / at.width;
}

function showCursor(zoom, x) {
  for (const panel of panels.values()) {
    if (!panel.view || zoomOf(panel) !== zoom || panel.host.closest("[hidden]")) continue;
    const at = frame(panel);
    if (!at) continue;
    const [low, high] = domain(zoom);
    panel.cursor ??= element("div", { class: "cursor" });
    const left = at.left + ((x - low) / (high - low)) * at.width;
    panel.cursor.style.cssText = `left:${left}px;top:${at.top}px;height:${at.height}px`;
    if (!panel.cursor.isConnected) panel.host.append(panel.cursor);
    $$(".dot", panel.host).forEach((dot) => dot.remove());
    if (panel.kind !== "throughput") continue;
    const top = scalesOf(panel).y1;
    for (const point of valuesAt(panel, x)) {
      const y = at.top + at.height * (1 - point.y / top);
      panel.host.append(element("div", { class: "dot", style: `left:${left}px;top:${y}px;--c:var(--drive-${point.colour})` }));
    }
  }
}

function hideCursor() {
  $$(".cursor, .dot").forEach((mark) => mark.remove());
  hideTip();
}

// The columns of the curves that are drawn at x.
function valuesAt(panel, x) {
  const axis = axisOf(panel);
  return curvesOf(panel).filter((curve) => x <= last(curve[axis])).map((curve) => {
    const all = columns(curve, axis, axis, plotWidth(panel.id), 3);
    const column = all.findLast((part) => part.from <= x) ?? all[0];
    return { curve, column, y: column.mean, colour: DATA.drives[curve.drive].colour };
  });
}

function who(drive, more = "") {
  const { name: text, shape, colour: number } = DATA.drives[drive];
  return element("span", { class: "who" },
    element("span", { style: `color:var(--drive-${number})` }, GLYPHS[shape]), `${text}${more}`);
}

// On a phone what comes after the second cell is left out.
function line(...cells) {
  return element("tr", {}, ...cells.map((cell, at) => element(at ? "td" : "th", at ? { class: at > 2 ? "n extra" : "n" } : {}, cell)));
}

function fillTip(panel, x) {
  if (panel.kind === "throughput") {
    const axis = axisOf(panel), other = axis === "gb" ? "s" : "gb", several = new Set(shownCurves().map((c) => c.phase)).size > 1;
    const rows = valuesAt(panel, x).map(({ curve, column, y }) => line(
      who(curve.drive, several ? `, ${phaseTitle(curve.phase)}` : ""), speed(y), speedToo(y),
      column.high > column.low * 1.02 ? `${significant(column.low, 3)} to ${significant(column.high, 3)}` : "",
      place(across(curve, x, axis, other), other)));
    const names = line("", "mean", "", "samples", axis === "gb" ? "after" : "at");
    names.className = "names";
    return rows.length ? [head(place(x, axis)), element("table", {}, element("tbody", {}, names, ...rows))] : [];
  }
  if (panel.kind === "delta") {
    const there = deltasOf(panel).filter((delta) => x <= last(delta.gb)), several = there.length > 1;
    const rows = there.map((delta) => line(
      who(delta.drive, several ? `, ${phaseTitle(delta.phase)}` : ""),
      percent(delta.percent[Math.min(indexBelow(delta.gb, x), delta.percent.length - 1)])));
    const against = `${place(x, "gb")} · against ${name(panel.drives[0])}`;
    return rows.length ? [head(against), element("table", {}, element("tbody", {}, ...rows))] : [];
  }
  const axis = axisOfXray(), mine = insides().filter((entry) => x <= last(entry[axis]));
  if (panel.kind === "gauge") {
    const rows = mine.filter((entry) => entry[panel.gauge])
      .map((entry) => line(who(entry.drive), significant(entry[panel.gauge][indexBelow(entry[axis], x)], 4)));
    return rows.length ? [head(`${place(x, axis)} · ${DATA.gauges[panel.gauge]}`), element("table", {}, element("tbody", {}, ...rows))] : [];
  }
  const inside = mine.find((entry) => entry.drive === panel.drive);
  if (!inside) return [];
  const at = indexBelow(inside[axis], x);
  const rows = [...DATA.causes].reverse().filter((cause) => inside[cause.id][at] > 0).map((cause) => line(
    element("span", { class: "who" }, element("span", { class: "swatch", style: `--c:var(--cause-${cause.id})` }), cause.title),
    speed(inside[cause.id][at])));
  rows.push(line("written by the host", speed(inside.host[at])));
  if (inside.waf[at] !== null) rows.push(line("WAF so far", significant(inside.waf[at], 3)));
  return [head(place(x, axis)), element("table", {}, element("tbody", {}, ...rows))];
}

const head = (text) => element("div", { class: "head" }, text);

const percent = (value) => `${value > 0 ? "+" : ""}${significant(value, 3)} %`;

function showTip(clientX, clientY, children) {
  if (!children.length) { hideTip(); return; }
  tip.replaceChildren(...children);
  tip.hidden = false;
  const box = tip.getBoundingClientRect(), margin = 10;
  const right = clientX + 16 + box.width + margin < innerWidth;
  const x = right ? clientX + 16 : clientX - 16 - box.width;
  tip.style.left = `${Math.max(margin, Math.min(x, innerWidth - box.width - margin))}px`;
  tip.style.top = `${Math.max(margin, Math.min(clientY - box.height / 2, innerHeight - box.height - margin))}px`;
}

function hideTip() { tip.hidden = true; }

// Bars and dots tell of themselves: Vega says which one is under the pointer.
function cellTip(event, value) {
  if (!value || !event) { hideTip(); return; }
  const drive = DATA.drives.findIndex((known) => known.name === value.drive);
  showTip(event.clientX, event.clientY, [
    head(value.cell), element("table", {}, element("tbody", {}, line(who(drive), value.shown, value.beside))),
  ]);
}
