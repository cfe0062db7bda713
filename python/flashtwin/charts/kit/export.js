// Saving a chart: its numbers as CSV, its picture as SVG or PNG with a title and a legend.
function save(name_, blob) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name_ });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 4000);
}

const ofGroup = (card) => card.startsWith("throughput") || card.startsWith("differences") || card === "xray";

function fileName(card, ending) {
  const step = card === "latency" ? `-${state.latency}` : "";
  const where = ofGroup(card) ? `-${state.group}${card === "xray" ? `-${state.phase}` : ""}` : step;
  return `flashtwin-${card}${where}.${ending}`.replace(/[^\w.-]+/g, "-");
}

function csvText(rows) {
  if (!rows.length) return "";
  const quoted = (value) => {
    const plain = value === null || value === undefined ? "" : String(value);
    // A spreadsheet would run such text as a formula; numbers stay. As outputs.csv_cell has it.
    const text = typeof value === "string" && /^[=+\-@\t\r]/.test(plain) && !/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?%?$/.test(plain)
      ? `'${plain}` : plain;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const names = Object.keys(rows[0]);
  return [names, ...rows.map((row) => names.map((key) => row[key]))]
    .map((row) => `${row.map(quoted).join(",")}\r\n`).join("");
}

// A metric of a cell with the ends of its interval, by the names of its columns.
function numbersOf(row, { id, column, unit }) {
  const cells = [[column, row[id]], [`${column}_low`, row[`${id}_low`]], [`${column}_high`, row[`${id}_high`]]];
  return unit === "MB/s" ? [...cells, [column.replace("MB", "MiB"), mib(row[id])]] : cells;
}

const mib = (mbs) => (Number.isFinite(mbs) ? Number((mbs * MIB).toPrecision(5)) : null);

// The pair of a card of the differences, as its charts have it.
const pairOf = (card) => panels.get(`both-${card.split("-")[1]}`);

function csvRows(card) {
  if (card.startsWith("differences")) {
    const panel = pairOf(card);
    return deltasOf(panel).flatMap((delta) => delta.percent.map((value, n) => ({
      drive: name(delta.drive), against: name(panel.drives[0]), pattern: delta.group, phase: delta.phase,
      direction: delta.direction, gb_from: delta.gb[n], gb_to: delta.gb[n + 1], percent: value,
    })));
  }
  if (card.startsWith("throughput")) {
    return shownCurves().flatMap((curve) => curve.low.map((low, n) => {
      const seconds = curve.s[n + 1] - curve.s[n], mean = seconds > 0 ? ((curve.gb[n + 1] - curve.gb[n]) * 1000) / seconds : 0;
      return {
        drive: name(curve.drive), pattern: curve.group, phase: curve.phase, direction: curve.direction,
        gb_from: curve.gb[n], gb_to: curve.gb[n + 1], seconds_from: curve.s[n], seconds_to: curve.s[n + 1],
        MB_per_s: Number(mean.toPrecision(5)), MiB_per_s: mib(mean), lowest_MB_per_s: low, highest_MB_per_s: curve.high[n],
      };
    }));
  }
  if (card === "xray") {
    return insides().flatMap((inside) => inside.s.map((s, n) => ({
      drive: name(inside.drive), pattern: inside.group, phase: inside.phase, gb_written: inside.gb[n],
      seconds: s, host_MB_per_s: inside.host[n],
      ...Object.fromEntries(DATA.causes.map((cause) => [`${cause.id}_MB_per_s`, inside[cause.id][n]])),
      cache_GB: inside.cache?.[n], cache_valid_GB: inside.valid?.[n],
      free_superblocks: inside.free?.[n], waf_so_far: inside.waf[n],
      power_W: inside.power?.[n], temperature_C: inside.heat?.[n],
    })));
  }
  if (card === "latency") {
    return DATA.latencies.flatMap((tail) => tail.nines.map((nines, n) => ({
      drive: name(tail.drive), step: tail.step, share_percent: Number((100 * (1 - 10 ** -nines)).toFixed(6)), latency_us: tail.us[n],
    })));
  }
  const { grid } = $(`[data-card="${card}"]`).dataset;
  return DATA.cells.filter((row) => row.grid === grid).map((row) => ({
    drive: name(row.drive), cell: row.cell, direction: row.way,
    ...Object.fromEntries(DATA.grids[grid].metrics.flatMap((metric) => numbersOf(row, metric))),
  }));
}

// The drives and passes that a card draws: a picture names nothing that is not in it.
function drivesOf(card) {
  if (card.startsWith("differences")) return pairOf(card).drives.map((n) => DATA.drives[n]);
  if (card === "latency") return tails().map((tail) => DATA.drives[tail.drive]);
  return DATA.drives.filter((_, n) => !card.startsWith("throughput") || state.drives.has(n));
}

const phasesOf = () => $$("[data-toggle-phase]").filter((button) => !button.hidden && state.phases.has(button.dataset.togglePhase));

const GAP = 24, HEAD = 66, CAPTION = 22;

function words(x, y, text, size, more = {}) {
  return svg("text", { x, y, "font-size": size, fill: "var(--ink)", ...more }, text);
}

// Every panel of a card as it is on the page, placed on a sheet as it is on the page.
async function sheet(card) {
  const home = $(`[data-card="${card}"]`);
  const mine = $$("[data-panel]", home).map((host) => panels.get(host.dataset.panel))
    .filter((panel) => panel.view && !panel.host.closest("[hidden]"));
  const boxes = mine.map((panel) => panel.host.getBoundingClientRect());
  const left = Math.min(...boxes.map((box) => box.left));
  const width = Math.max(...boxes.map((box) => box.right)) - left + 2 * GAP;
  const legend = keysOf(card, width - 2 * GAP);
  const parts = [], tops = [...new Set(boxes.map((box) => box.top))].sort((a, b) => a - b);
  let y = HEAD + legend.height;
  for (const top of tops) {
    let high = 0;
    for (const [n, panel] of mine.entries()) {
      if (boxes[n].top !== top) continue;
      const heading = $("h4", panel.host.closest(".facet") ?? panel.host);
      const caption = heading ? CAPTION : 0, x = GAP + boxes[n].left - left;
      if (heading) parts.push(words(x, y + 14, heading.firstChild.textContent.trim() || heading.textContent.trim(), 12, { "font-weight": 600 }));
      const drawn = new DOMParser().parseFromString(await panel.view.toSVG(), "image/svg+xml").documentElement;
      drawn.setAttribute("x", x);
      drawn.setAttribute("y", y + caption);
      parts.push(drawn);
      high = Math.max(high, caption + Number(drawn.getAttribute("height")));
    }
    y += high + 12;
  }
  const section = $("h2", home.closest("section")).textContent, title = $("figcaption h3", home).textContent.toLowerCase();
  const pattern = ofGroup(card) ? DATA.groups.find((group) => group.id === state.group)?.title : null;
  const about = [pattern, partOf(card), drivesOf(card).map((drive) => drive.name).join(", ")];
  const feet = footOf(card), height = y + 12 + 15 * feet.length;
  parts.push(...feet.map((text, n) => words(GAP, y + 10 + 15 * n, text, 11, { fill: "var(--quiet)", class: "foot" })));
  return svg("svg", {
    xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`, "font-family": font(),
  }, svg("rect", { width, height, fill: "var(--card)" }),
  words(GAP, 30, `${section}: ${title}`, 16, { "font-weight": 650 }),
  words(GAP, 50, about.filter(Boolean).join(" · "), 12, { fill: "var(--quiet)" }),
  ...legend.parts, ...parts);
}

// What of the pattern is drawn, where that is one phase or step.
function partOf(card) {
  if (card === "xray") return phaseTitle(state.phase);
  if (card === "latency") return $("[data-latency]").selectedOptions[0].textContent;
  const shown = card.startsWith("throughput") ? phasesOf() : [];
  return shown.length === 1 ? shown[0].textContent.trim() : null;
}

// Where the numbers come from: a picture travels without its page.
function footOf(card) {
  const drives = drivesOf(card), origins = new Set(drives.map((drive) => drive.origin));
  const lines = origins.size === 1 ? [...origins] : drives.slice(0, 8).map((drive) => `${drive.name}: ${drive.origin}`);
  return [...lines.slice(0, -1), `${lines.at(-1)} · flashtwin ${DATA.version}`];
}

// Drives by colour and shape; then passes by dash, or causes by colour.
function keysOf(card, width) {
  const keys = drivesOf(card).map((drive) => ({
    mark: (x, y) => words(x, y, GLYPHS[drive.shape], 12, { fill: `var(--drive-${drive.colour})` }), space: 17, text: drive.name,
  }));
  if ((card.startsWith("throughput") || card.startsWith("differences")) && phasesOf().length > 1) {
    for (const button of phasesOf()) {
      keys.push({ mark: (x, y) => dash(x, y, $("path", button).getAttribute("stroke-dasharray")), space: 32, text: button.textContent.trim() });
    }
  }
  if (card === "xray") {
    for (const cause of DATA.causes) {
      keys.push({ mark: (x, y) => svg("rect", { x, y: y - 10, width: 11, height: 11, rx: 2, fill: `var(--cause-${cause.id})` }), space: 17, text: cause.title });
    }
    keys.push({ mark: (x, y) => dash(x, y, "4 2"), space: 32, text: "written by the host" });
  }
  const parts = [], ruler = document.createElement("canvas").getContext("2d");
  ruler.font = `12px ${font()}`;
  let x = GAP, y = HEAD + 12;
  for (const key of keys) {
    const long = key.space + ruler.measureText(key.text).width + 20;
    if (x > GAP && x + long > GAP + width) { x = GAP; y += 20; }
    parts.push(key.mark(x, y), words(x + key.space, y, key.text, 12));
    x += long;
  }
  return { parts, height: y - HEAD + 18 };
}

const dash = (x, y, pattern) => svg("path", {
  d: `M${x} ${y - 4}h26`, stroke: "var(--ink)", "stroke-width": 2, fill: "none", "stroke-dasharray": pattern,
});

// Variables become colours: a picture has no style sheet.
async function picture(card) {
  const drawn = await sheet(card);
  const text = new XMLSerializer().serializeToString(drawn).replace(/var\(--([\w-]+)\)/g, (all, name_) => colour(name_));
  return { text, width: Number(drawn.getAttribute("width")), height: Number(drawn.getAttribute("height")) };
}

async function raster({ text, width, height }) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = element("canvas", { width: Math.round(width * 2), height: Math.round(height * 2) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise((done, failed) => {
    canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("no picture"))), "image/png");
  });
}

async function exported(card, kind) {
  if (kind === "csv") return new Blob([csvText(csvRows(card))], { type: "text/csv" });
  const made = await picture(card);
  return kind === "svg" ? new Blob([made.text], { type: "image/svg+xml" }) : raster(made);
}

function startExport() {
  for (const button of $$("[data-export]")) {
    button.addEventListener("click", async () => {
      const { card, export: kind } = button.dataset;
      try {
        await Promise.all([...panels.values()].filter((panel) => panel.host.closest(`[data-card="${card}"]`)).map(mount));
        save(fileName(card, kind), await exported(card, kind));
        say("Saved");
      } catch (error) {
        console.error(`${card}: ${error.message}`);
        say("The chart could not be saved");
      }
    });
  }
}
