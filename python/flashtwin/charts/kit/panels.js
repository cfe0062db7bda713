// The charts that are on the page. Each is made once; later only its data and scales change.
const panels = new Map();

function startPanels() {
  for (const host of $$("[data-panel]")) {
    panels.set(host.dataset.panel, { ...DATA.panels[host.dataset.panel], id: host.dataset.panel, host, view: null, made: null });
  }
  drawAll();
  addEventListener("beforeprint", drawPaper);
  // A chart that was drawn while it was folded away had no width.
  document.addEventListener("toggle", ({ target }) => {
    if (target.open) remount((panel) => target.contains(panel.host) && panel.host.clientWidth !== panel.drawnWidth);
  }, true);
  let waiting = null;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    // Labels stand by how wide a chart is.
    waiting = setTimeout(() => { refreshAll(); reachable(); }, 150);
  });
}

// The first screen at once; then, without waiting for a reader to scroll, what is below it, because
// paper and pictures of the whole page need all. Between two of those a click has its turn.
async function drawAll() {
  const done = holdLoad();
  const first = [...panels.values()].filter(inView);
  await Promise.all(first.map(mount));
  performance.mark("interactive");
  for (const panel of panels.values()) {
    if (!panel.made) await new Promise((next) => setTimeout(next));
    await mount(panel);
  }
  root.dataset.ready = "true";
  done();
}

// Paper has no switch: the other patterns have charts of their own there. Nothing here waits for more
// than what is at hand, so that all of it is done before the browser goes on to print.
async function drawPaper() {
  await Promise.all([...panels.values()].map(mount));
  const { group, zoom } = state;
  state.zoom = { gb: null, s: null, rest: null };
  for (const host of $$("[data-paper]")) {
    host.replaceChildren();
    host.hidden = host.dataset.paper === group;
    state.group = host.dataset.paper;
    if (!host.hidden) await make({ ...DATA.panels.throughput, id: host.id.slice("plot-".length), host });
  }
  Object.assign(state, { group, zoom });
}

const specOf = (panel) => panel.spec ?? panel.specs[ofChoice(panel) ? axisOf(panel) : axisOfXray()];

function mount(panel) {
  panel.made ??= make(panel);
  return panel.made;
}

async function make(panel) {
  try {
    await library;
    const spec = { ...specOf(panel), datasets: rowsOf(panel) }, scales = scalesOf(panel);
    spec.params = spec.params.map((param) => (param.expr ? param : { ...param, value: scales[param.name] ?? param.value }));
    const { view } = await vegaEmbed(panel.host, spec, {
      mode: "vega-lite", renderer: "svg", actions: false, ast: true, defaultStyle: false, logLevel: 1,
      config: chartConfig(), tooltip: (handler, event, item, value) => cellTip(event, value),
    });
    panel.view = view;
    panel.drawnWidth = panel.host.clientWidth;
    // The place of a chart has its name, and a table has its numbers: its marks need no names.
    $("svg", panel.host).setAttribute("aria-hidden", "true");
    showWhetherEmpty(panel);
  } catch (error) {
    panel.host.replaceChildren(element("p", { class: "empty" }, "This chart could not be drawn; its numbers are in the table."));
    console.error(`${panel.id}: ${error.message}`);
  }
}

// Made anew: for a chart whose axis is another one now.
function remount(which) {
  for (const panel of panels.values()) {
    if (!which(panel) || !panel.made) continue;
    panel.made = panel.made.then(() => {
      panel.view?.finalize();
      panel.view = null;
      return make(panel);
    });
  }
}

function refresh(panel) {
  if (!panel.view) return;
  for (const [signal, value] of Object.entries(scalesOf(panel))) panel.view.signal(signal, value);
  for (const [data, rows] of Object.entries(rowsOf(panel))) panel.view.data(data, rows);
  showWhetherEmpty(panel);
  // The labels above a plot may take another row now.
  if (panel.kind === "throughput" || panel.kind === "areas") panel.view.width(plotWidth(panel.id)).resize();
  panel.view.run();
}

// A drive that was stopped may lack the phase that is shown.
function showWhetherEmpty(panel) {
  if (panel.kind !== "areas") return;
  const empty = !insides().some((inside) => inside.drive === panel.drive);
  panel.host.closest(".facet").toggleAttribute("hidden", empty);
}

function refreshAll(which = () => true) {
  for (const panel of panels.values()) if (which(panel)) refresh(panel);
}

// The width of a plot in pixels; before it is drawn, and where it is far from that, what the axis
// leaves of its place.
const AXIS_WIDTH = 54;
function plotWidth(id) {
  const room = Math.max(document.getElementById(`plot-${id}`).clientWidth - AXIS_WIDTH, 100);
  const drawn = panels.get(id)?.view?.signal("width") ?? room;
  // Labels that stood for another width may have squeezed the plot.
  return Math.abs(drawn - room) < 20 ? drawn : room;
}

// Where the plot lies in its host, in pixels of the window.
function frame(panel) {
  const drawn = panel.view && $("svg", panel.host);
  if (!drawn) return null;
  const box = drawn.getBoundingClientRect(), host = panel.host.getBoundingClientRect();
  const [left, top] = panel.view.origin(), padding = panel.view.padding();
  return {
    left: box.left - host.left + left + padding.left, top: box.top - host.top + top + padding.top, host,
    width: panel.view.signal("width"), height: panel.view.signal("height"),
  };
}

const zoomOf = (panel) => (ofChoice(panel) ? axisOf(panel)
  : panel.kind === "areas" || panel.kind === "gauge" ? zoomOfXray() : null);
