// A finding's box: what it means, its interval, its note, and the stretch of curve it rests on.
const pop = $("#pop");
let opener = null, timer = null, held = false;

const chosenBy = (button) => ({ drive: Number(button.dataset.drive), id: button.dataset.finding });
const findingOf = (chosen) => DATA.findings[chosen.drive][chosen.id];

function showBands() {
  for (const panel of panels.values()) {
    if (panel.kind !== "throughput" || !panel.view) continue;
    panel.view.data("band", bandRows(axisOf(panel)));
    panel.view.run();
  }
}

function valueText(finding) {
  if (finding.value === null) return "not found";
  if (typeof finding.value === "string") return { main: finding.value, more: "" };
  const percent = finding.unit === "fraction", factor = percent ? 100 : 1;
  const unit = percent ? "%" : finding.unit === "us" ? "µs" : finding.unit;
  const range = finding.low === null || finding.high === null ? ""
    : ` (${significant(finding.low * factor, 5)} to ${significant(finding.high * factor, 5)})`;
  const mib = finding.unit === "MB/s" ? ` · ${speedToo(finding.value)}` : "";
  return { main: `${significant(finding.value * factor, 5)} ${unit}`, more: `${range}${mib}` };
}

// The curve with its stretch, as small as a stamp.
function stamp(chosen, finding) {
  const { evidence } = finding;
  if (!evidence || evidence.axis === "cell") return null;
  const curve = DATA.curves.find((drawn) => drawn.drive === chosen.drive && drawn.label === evidence.label);
  if (!curve) return null;
  const axis = evidence.axis === "bytes" ? "gb" : "s", scale = axis === "gb" ? 1e9 : 1;
  const end = last(curve[axis]), top = most(curve.high) || 1, step = end / 180, points = [];
  for (let from = 0; from < end; from += step) {
    const edges = [from, Math.min(from + step, end)], [s0, s1] = edges.map((x) => across(curve, x, axis, "s"));
    const [g0, g1] = edges.map((x) => across(curve, x, axis, "gb"));
    const y = s1 > s0 ? ((g1 - g0) * 1000) / (s1 - s0) : 0;
    points.push(`${(((from + step / 2) / end) * 360).toFixed(1)} ${(72 - Math.min(y / top, 1) * 66).toFixed(1)}`);
  }
  const [a, b] = [evidence.start, evidence.end].map((v) => Math.min((v / scale / end) * 360, 360));
  return svg("svg", {
    class: "stretch", viewBox: "0 0 360 76", preserveAspectRatio: "none", role: "img",
    style: `--c: var(--drive-${DATA.drives[chosen.drive].colour})`,
    "aria-label": `Rests on ${place(evidence.start / scale, axis)} to ${place(evidence.end / scale, axis)}`,
  }, svg("rect", { x: a, y: 0, width: Math.max(b - a, 1.5), height: 76 }), svg("path", { d: `M${points.join("L")}` }));
}

function fillPop(chosen) {
  const finding = findingOf(chosen), meaning = DATA.meanings[finding.means], value = valueText(finding);
  const close = element("button", { type: "button", class: "icon close", "aria-label": "Close" }, "✕");
  close.addEventListener("click", () => closePop(true));
  const parts = [close, element("h3", { id: "pop-title" }, finding.title), element("div", { class: "quiet" }, who(chosen.drive))];
  parts.push(typeof value === "string" ? element("div", { class: "big quiet" }, value)
    : element("div", {}, element("div", { class: "big" }, value.main), element("span", { class: "quiet" }, value.more)));
  const drawn = stamp(chosen, finding);
  if (drawn) {
    const { evidence } = finding, axis = evidence.axis === "bytes" ? "gb" : "s", scale = axis === "gb" ? 1e9 : 1;
    parts.push(drawn, element("div", { class: "quiet" }, `Rests on ${place(evidence.start / scale, axis)} to ${place(evidence.end / scale, axis)} of ${evidence.label}`));
  }
  if (finding.note) parts.push(element("p", {}, element("em", {}, "Note. "), finding.note));
  if (meaning) parts.push(element("p", {}, meaning.means), meaning.mind ? element("p", { class: "quiet" }, meaning.mind) : null);
  const row = element("div", { class: "row" });
  if (drawn) {
    const show = element("button", { type: "button" }, "Show in the chart");
    show.addEventListener("click", () => pin(chosen));
    row.append(show);
  }
  row.append(element("code", { class: "quiet" }, `flashtwin explain ${finding.stem}`));
  parts.push(row);
  pop.replaceChildren(...parts.filter(Boolean));
}

function openPop(button, hold) {
  if (opener !== button) closePop(false);
  opener = button;
  held = hold;
  const chosen = chosenBy(button);
  fillPop(chosen);
  pop.hidden = false;
  button.setAttribute("aria-expanded", "true");
  state.pointed = chosen;
  showBands();
  const box = button.getBoundingClientRect(), size = pop.getBoundingClientRect();
  if (getComputedStyle(pop).position === "fixed") { pop.style.left = pop.style.top = ""; }
  else {
    const left = Math.min(Math.max(box.right - size.width, 12), innerWidth - size.width - 12);
    const below = box.bottom + 8 + size.height < innerHeight || box.top < size.height + 70;
    pop.style.left = `${left + scrollX}px`;
    pop.style.top = `${(below ? box.bottom + 8 : box.top - 8 - size.height) + scrollY}px`;
  }
  if (hold) $(".close", pop).focus({ preventScroll: true });
}

function closePop(refocus) {
  clearTimeout(timer);
  if (!opener) return;
  opener.removeAttribute("aria-expanded");
  if (refocus) opener.focus({ preventScroll: true });
  opener = null;
  held = false;
  pop.hidden = true;
  state.pointed = null;
  showBands();
}

function pin(chosen) {
  const finding = findingOf(chosen);
  closePop(false);
  state.pinned = chosen;
  state.drives.add(chosen.drive);
  const curve = DATA.curves.find((drawn) => drawn.drive === chosen.drive && drawn.label === finding.evidence.label);
  if (curve) { state.phases.add(curve.phase); chooseGroup(curve.group); }
  press("[data-toggle-drive]", (button) => state.drives.has(Number(button.dataset.toggleDrive)));
  press("[data-toggle-phase]", (button) => state.phases.has(button.dataset.togglePhase));
  refreshAll((panel) => panel.kind === "throughput");
  const remove = element("button", { type: "button" }, "Remove");
  remove.addEventListener("click", unpin);
  $("#pinned").replaceChildren(element("span", {}, `Highlighted: ${finding.title}, `, who(chosen.drive)), remove);
  $("#pinned").hidden = false;
  $("#throughput").scrollIntoView();
}

function unpin() {
  state.pinned = null;
  $("#pinned").hidden = true;
  showBands();
}

function startFindings() {
  for (const button of $$("[data-finding]")) {
    button.addEventListener("click", () => { if (opener === button && held) closePop(true); else openPop(button, true); });
    button.addEventListener("pointerenter", (event) => {
      if (event.pointerType !== "mouse" || held) return;
      clearTimeout(timer);
      state.pointed = chosenBy(button);
      showBands();
      timer = setTimeout(() => openPop(button, false), 260);
    });
    button.addEventListener("pointerleave", () => {
      clearTimeout(timer);
      if (held) return;
      timer = setTimeout(() => {
        if (opener) closePop(false); else { state.pointed = null; showBands(); }
      }, 180);
    });
  }
  pop.addEventListener("pointerenter", () => clearTimeout(timer));
  pop.addEventListener("pointerleave", () => { if (!held) timer = setTimeout(() => closePop(false), 180); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") closePop(true); });
  document.addEventListener("pointerdown", (event) => {
    if (opener && !pop.contains(event.target) && !event.target.closest("[data-finding]")) closePop(false);
  });
}
