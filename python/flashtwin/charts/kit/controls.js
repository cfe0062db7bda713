// What the reader chooses: pattern, drives, passes, the phase and axis of the X-ray; copying; the
// section in view.
function press(selector, is) {
  for (const button of $$(selector)) button.setAttribute("aria-pressed", String(is(button)));
}

function showTables() {
  for (const part of $$("[data-of-group]")) {
    const { ofGroup, ofPhase = state.phase, ofAxis = state.axis } = part.dataset;
    part.hidden = ofGroup !== state.group || ofPhase !== state.phase || ofAxis !== state.axis;
  }
  for (const title of $$("[data-axis-title]")) title.textContent = `Speed over ${state.axis === "gb" ? "data written" : "time"}`;
}

function choosePhaseThatIs() {
  const there = DATA.xray.filter((inside) => inside.group === state.group).map((inside) => inside.phase);
  if (there.length && !there.includes(state.phase)) state.phase = there[0];
  for (const button of $$("[data-phase]")) button.disabled = !there.includes(button.dataset.phase);
}

function chooseGroup(group) {
  if (group === state.group) return;
  state.group = group;
  state.zoom = { gb: null, s: null, rest: null };
  choosePhaseThatIs();
  showChoices();
  remount((panel) => panel.specs);
  refreshAll(ofChoice);
}

// The key of phases names those of the pattern that is shown.
function showPhases() {
  const drawn = new Set(curvesOfGroup().map((curve) => curve.phase));
  for (const button of $$("[data-toggle-phase]")) {
    button.hidden = drawn.size < 2 || !drawn.has(button.dataset.togglePhase);
  }
}

function showChoices() {
  showPhases();
  press("[data-group]", (button) => button.dataset.group === state.group);
  press("[data-phase]", (button) => button.dataset.phase === state.phase);
  for (const button of $$("[data-xaxis]")) {
    const axis = button.closest("#xray") ? axisOfXray() : state.axis;
    button.setAttribute("aria-pressed", String(button.dataset.xaxis === axis));
    button.disabled = button.closest("#xray") !== null && resting() && button.dataset.xaxis === "gb";
  }
  for (const select of $$("[data-groups]")) select.value = state.group;
  showTables();
}

function toggle(set, value) {
  if (set.has(value)) set.delete(value); else set.add(value);
}

function startControls() {
  choosePhaseThatIs();
  showChoices();
  for (const button of $$("[data-group]")) button.addEventListener("click", () => chooseGroup(button.dataset.group));
  for (const select of $$("[data-groups]")) select.addEventListener("change", () => chooseGroup(select.value));
  for (const button of $$("[data-phase], [data-xaxis]")) {
    button.addEventListener("click", () => {
      if (button.dataset.phase) state.phase = button.dataset.phase; else state.axis = button.dataset.xaxis;
      showChoices();
      remount((panel) => panel.specs);
    });
  }
  for (const button of $$("[data-toggle-drive], [data-toggle-phase]")) {
    button.addEventListener("click", () => {
      if (button.dataset.togglePhase) toggle(state.phases, button.dataset.togglePhase);
      else toggle(state.drives, Number(button.dataset.toggleDrive));
      press("[data-toggle-drive]", (button) => state.drives.has(Number(button.dataset.toggleDrive)));
      press("[data-toggle-phase]", (button) => state.phases.has(button.dataset.togglePhase));
      refreshAll(ofChoice);
    });
  }
  for (const select of $$("[data-latency]")) {
    select.value = state.latency;
    select.addEventListener("change", () => { state.latency = select.value; refreshAll((panel) => panel.kind === "latency"); });
  }
  addEventListener("hashchange", unfold);
  for (const link of $$(".bar nav a")) link.addEventListener("click", () => unfold({ newURL: link.href }));
  unfold({ newURL: location.href });
  for (const button of $$("[data-copy]")) {
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copy);
      const done = await copied(source.textContent, source);
      button.textContent = done ? "Copied" : "Selected";
      say(done ? "Copied" : "Selected; press Ctrl and C");
      setTimeout(() => { button.textContent = "Copy"; }, 1600);
    });
  }
  document.addEventListener("toggle", reachable, true);
  reachable();
  followSections();
}

// What scrolls within its card can be reached, and so scrolled, by keys.
function reachable() {
  for (const part of $$(".scroll")) part.toggleAttribute("tabindex", part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight);
  for (const part of $$(".scroll[tabindex]")) part.setAttribute("tabindex", "0");
}

// A link to a section that is folded away opens it.
function unfold({ newURL }) {
  const section = document.getElementById(new URL(newURL).hash.slice(1)), folded = section && $("details.fold", section);
  if (folded) folded.open = true;
}

// A file has no clipboard of its own everywhere: the old way, and at least the selection, remain.
async function copied(text, source) {
  try { await navigator.clipboard.writeText(text); return true; } catch (error) { /* the old way */ }
  getSelection().selectAllChildren(source);
  try { return document.execCommand("copy"); } catch (error) { return false; }
}

function followSections() {
  const links = new Map($$(".bar nav a").map((link) => [link.hash.slice(1), link]));
  const seen = new Map();
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) seen.set(entry.target.id, entry.isIntersecting);
    const current = [...links.keys()].find((id) => seen.get(id));
    for (const [id, link] of links) {
      if (id !== current) { link.removeAttribute("aria-current"); continue; }
      link.setAttribute("aria-current", "true");
      const nav = link.parentElement, left = link.offsetLeft - (nav.clientWidth - link.offsetWidth) / 2;
      nav.scrollTo({ left, behavior: "auto" });
    }
  }, { rootMargin: "-64px 0px -55% 0px" });
  for (const id of links.keys()) { const section = document.getElementById(id); if (section) watch.observe(section); }
}
