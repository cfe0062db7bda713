// Zoom and pan: drag for a stretch, Shift and drag to pan, Ctrl and wheel, double-click, keys, buttons.
let waiting = null, resting_ = null;

function setZoom(zoom, range) {
  const [least, most_] = extent(zoom), whole = most_ - least;
  if (range) {
    const width = Math.min(Math.max(range[1] - range[0], whole / 2000), whole);
    const low = Math.min(Math.max(range[0], least), most_ - width);
    state.zoom[zoom] = width >= whole * 0.9999 ? null : [low, low + width];
  } else state.zoom[zoom] = null;
  // What is in view follows at once, the rest when the reader pauses.
  waiting ??= requestAnimationFrame(() => {
    waiting = null;
    hideCursor();
    refreshAll((panel) => zoomOf(panel) === zoom && inView(panel));
  });
  clearTimeout(resting_);
  resting_ = setTimeout(() => refreshAll((panel) => zoomOf(panel) === zoom && !inView(panel)), 250);
}

function inView(panel) {
  const box = panel.host.getBoundingClientRect();
  return box.bottom > 0 && box.top < innerHeight;
}

function zoomBy(zoom, factor, around) {
  const [low, high] = domain(zoom), at = around ?? (low + high) / 2;
  setZoom(zoom, [at - (at - low) * factor, at + (high - at) * factor]);
}

function panBy(zoom, share) {
  const [low, high] = domain(zoom), step = (high - low) * share;
  setZoom(zoom, [low + step, high + step]);
}

const moves = {
  in: (zoom) => zoomBy(zoom, 0.5), out: (zoom) => zoomBy(zoom, 2), all: (zoom) => setZoom(zoom, null),
  left: (zoom) => panBy(zoom, -0.25), right: (zoom) => panBy(zoom, 0.25),
};
const keys = { "+": "in", "=": "in", "-": "out", 0: "all", Home: "all", ArrowLeft: "left", ArrowRight: "right" };

function startZoom() {
  for (const button of $$("[data-zoom]")) {
    button.addEventListener("click", () => {
      const axes = { xray: zoomOfXray(), throughput: state.axis };
      moves[button.dataset.zoom](axes[button.dataset.axis] ?? button.dataset.axis);
    });
  }
  for (const panel of panels.values()) if (panel.host.dataset.axis) follow(panel);
}

function follow(panel) {
  const { host } = panel;
  let drag = null;
  const brush = element("div", { class: "brush" });
  const end = () => { drag = null; brush.remove(); };

  host.addEventListener("pointerdown", (event) => {
    const x = pointAt(panel, event.clientX);
    if (event.button !== 0 || x === null || event.pointerType === "touch") return;
    drag = { x, from: event.clientX, pan: event.shiftKey, domain: domain(zoomOf(panel)) };
    host.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  host.addEventListener("pointermove", (event) => {
    const at = frame(panel);
    if (!at) return;
    if (drag?.pan) {
      const [low, high] = drag.domain, moved = ((event.clientX - drag.from) / at.width) * (high - low);
      setZoom(zoomOf(panel), [low - moved, high - moved]);
    } else if (drag && Math.abs(event.clientX - drag.from) > 3) {
      const origin = at.host.left + at.left, clamp = (x) => Math.min(Math.max(x - origin, 0), at.width);
      const [a, b] = [clamp(drag.from), clamp(event.clientX)].sort((p, q) => p - q);
      brush.style.cssText = `left:${at.left + a}px;width:${b - a}px;top:${at.top}px;height:${at.height}px`;
      host.append(brush);
    }
    const x = pointAt(panel, event.clientX);
    if (x === null) { hideCursor(); return; }
    showCursor(zoomOf(panel), x);
    showTip(event.clientX, event.clientY, fillTip(panel, x));
  });
  host.addEventListener("pointerup", (event) => {
    if (drag && !drag.pan && Math.abs(event.clientX - drag.from) > 3) {
      const at = frame(panel), [low, high] = domain(zoomOf(panel));
      const to = low + ((event.clientX - at.host.left - at.left) / at.width) * (high - low);
      setZoom(zoomOf(panel), [Math.min(drag.x, to), Math.max(drag.x, to)]);
    }
    end();
  });
  host.addEventListener("pointercancel", end);
  host.addEventListener("pointerleave", () => { if (!drag) hideCursor(); });
  host.addEventListener("dblclick", () => setZoom(zoomOf(panel), null));
  host.addEventListener("wheel", (event) => {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) && state.zoom[zoomOf(panel)];
    if (!event.ctrlKey && !event.metaKey && !sideways) return;
    event.preventDefault();
    if (sideways) panBy(zoomOf(panel), event.deltaX / 1000);
    else zoomBy(zoomOf(panel), Math.exp(event.deltaY / 400), pointAt(panel, event.clientX) ?? undefined);
  }, { passive: false });
  host.addEventListener("keydown", (event) => {
    const move = keys[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    moves[move](zoomOf(panel));
  });
}
