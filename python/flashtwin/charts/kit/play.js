// The page to play with: what is moved becomes a question to the core, and the answer two charts. What
// the curve means was concluded beforehand, for some positions; nothing is concluded here.
const GB = 1e9, MB = 1e6;
// Causes that have no colour of their own.
const COLOURS = { tier: "slc", wear: "upkeep", refresh: "upkeep", failure: "upkeep", journal: "system", recovery: "system" };
const WARM_UPS = 3;

const knobs = () => DATA.controls.map((_, index) => $(`#knob-${index}`));
let prepared = [], worker = null, asked = 0, shown = 0, waiting = null, busy = false;

// ---------------------------------------------------------------- what the hand has chosen

function chosen() {
  const options = {}, sets = [];
  let divisor = DATA.divisor;
  knobs().forEach((knob, index) => {
    const control = DATA.controls[index], option = control.options[Number(knob.value)];
    options[control.id] = Number(knob.value);
    sets.push(...option.sets);
    divisor = Math.min(divisor, option.divisor);
  });
  const level = DATA.levels[Number($("#knob-level").value)];
  const rest = DATA.rests[Number($("#knob-rest").value)];
  return { options, sets, divisor, level, rest, random: $("#knob-random").checked };
}

// A pause on the small drive: all of the time for which the firmware waits, and of the rest a share.
function restNs(rest, divisor) {
  const waits = Math.min(rest.seconds, DATA.idle_s);
  return Math.round((waits + (rest.seconds - waits) / divisor) * 1e9);
}

function question(choice) {
  const middle = choice.level / 100;
  const steps = middle ? [
    { fill: { from: 0, to: middle } },
    { rest: { ns: restNs(choice.rest, choice.divisor) } },
    { fill: { from: middle, to: 1 } },
  ] : [{ fill: { from: 0, to: 1 } }];
  if (choice.random) steps.push({ overwrite: { share: 0.25 } });
  return JSON.stringify({ ...DATA.question, sets: choice.sets, scale: `1/${choice.divisor}`, steps });
}

function preparedAt(choice) {
  if (choice.level || choice.random) return null;
  return prepared.find(({ options }) => Object.keys(options).every((id) => options[id] === choice.options[id])) || null;
}

// --------------------------------------------------------------------------- from answer to curve

// Rates of a step by its samples; what is counted goes on from where the step before ended.
function curveOf(answer, choice) {
  const curve = { ends: [], rates: [], areas: [], marks: [], total: 0 };
  const before = {};
  const areas = DATA.causes.map(({ column, cause, title }) => ({ column, title, colour: COLOURS[cause] || cause, rates: [] }));
  let wrote = false;
  for (const step of answer.steps) {
    const bytes = step.series.bytes || [];
    if (!bytes.length && choice.rest.seconds) {
      curve.marks.push({ at: curve.total, text: `pause, ${choice.rest.text}` });
    } else if (bytes.length && wrote) {
      curve.marks.push({ at: curve.total, text: "at random" });
    }
    wrote = bytes.length > 0;
    bytes.forEach((count, index) => {
      const dt = step.series.dt_ns[index] / 1e9;
      curve.total += (count * choice.divisor) / GB;
      curve.ends.push(curve.total);
      curve.rates.push(dt ? count / MB / dt : 0);
      for (const area of areas) {
        const now = (step.xray[area.column] || [])[index] ?? before[area.column] ?? 0;
        area.rates.push(dt ? Math.max(0, now - (before[area.column] || 0)) / MB / dt : 0);
        before[area.column] = now;
      }
    });
    // A pause has no bytes of a host, and what went on in it belongs to no sample.
    for (const { column } of areas) before[column] = step.xray[column]?.at(-1) ?? before[column];
  }
  curve.areas = areas.filter(({ rates }) => rates.some((rate) => rate > 0));
  return curve;
}

// What was drawn last is drawn anew where the page changes its width.
let drawn = null;
addEventListener("resize", () => drawn && draw(...drawn));

function draw(answer, choice) {
  drawn = [answer, choice];
  const curve = curveOf(answer, choice);
  drawLine($("#seen"), curve);
  drawAreas($("#inside"), curve);
  $("#causes").replaceChildren(...curve.areas.map(({ title, colour }) => {
    const item = document.createElement("li"), swatch = document.createElement("i");
    swatch.style.background = `var(--cause-${colour})`;
    item.append(swatch, title);
    return item;
  }));
}

// ------------------------------------------------------------------------------- what is written

function say(text, isWrong = false) {
  $("#status").textContent = text;
  $("#status").classList.toggle("wrong", isWrong);
}

function showFindings(position) {
  const place = $("#findings");
  if (!position) {
    const text = document.createElement("p");
    text.className = "quiet";
    text.textContent = "Not analysed: the analysis was run beforehand with one value moved at a time.";
    place.replaceChildren(text);
    return;
  }
  const rows = position.findings.map(([title, value]) => {
    const row = document.createElement("tr"), head = document.createElement("th"), cell = document.createElement("td");
    head.scope = "row";
    head.textContent = title;
    cell.className = "n";
    cell.textContent = value;
    row.append(head, cell);
    return row;
  });
  const table = document.createElement("table");
  table.append(...rows);
  place.replaceChildren(table);
}

function showValues(choice) {
  knobs().forEach((knob, index) => {
    const text = DATA.controls[index].options[Number(knob.value)].text;
    $(`#value-${index}`).textContent = text;
    knob.setAttribute("aria-valuetext", text);
  });
  $("#value-level").textContent = choice.level ? `${choice.level} %` : "no pause";
  $("#value-rest").textContent = choice.level ? choice.rest.text : "none";
  $("#knob-rest").disabled = !choice.level;
}

// ------------------------------------------------------------------------------ moving and asking

function moved() {
  const choice = chosen(), position = preparedAt(choice);
  performance.mark("moved");
  showValues(choice);
  showFindings(position);
  if (worker) { ask(choice); return; }
  if (position) { draw(position.answer, choice); say("A prepared curve: this page has no simulator, or the browser has no WebAssembly."); return; }
  say("Not prepared. Without the simulator the page has curves only where one value is moved.", true);
}

function ask(choice) {
  waiting = { number: ++asked, choice, question: question(choice) };
  if (!busy) next();
}

function next() {
  if (!waiting) return;
  busy = waiting;
  waiting = null;
  worker.postMessage({ number: busy.number, question: busy.question });
}

function answered({ number, answer, broken, took_ms }) {
  const { choice } = busy;
  busy = false;
  next();
  if (broken) { say(`The simulation broke off: ${broken}`, true); startWorker(); return; }
  if (number < shown) return;
  shown = number;
  if (answer.error) { say(`This cannot be a drive: ${answer.error}`, true); root.dataset.drawn = number; return; }
  draw(answer, choice);
  // Only the last of several moves is measured: those before it were passed over.
  if (!waiting && !busy) performance.measure("redraw", "moved");
  say([`Simulated at 1/${choice.divisor} in ${Math.round(took_ms)} ms.`, ...answer.notes].join(" "));
  root.dataset.drawn = number;
}

// The core is compiled and has run a few times before the first move: what runs first runs slowly.
async function startWorker() {
  const core = await (await unpacked("core")).arrayBuffer();
  const place = URL.createObjectURL(new Blob([$("#worker").textContent], { type: "text/javascript" }));
  const started = new Worker(place);
  const answerOf = (message) => new Promise((resolve, reject) => {
    started.onmessage = ({ data }) => (data.broken ? reject(new Error(data.broken)) : resolve(data));
    started.onerror = (event) => reject(new Error(event.message || "the Worker did not start"));
    started.postMessage(message);
  });
  await answerOf({ core });
  const usual = chosen();
  for (let count = 0; count < WARM_UPS; count += 1) await answerOf({ number: 0, question: question(usual) });
  started.onmessage = ({ data }) => answered(data);
  started.onerror = (event) => answered({ number: asked, broken: event.message });
  worker = started;
  root.dataset.core = "running";
}

async function startPlay() {
  prepared = await (await unpacked("prepared")).json();
  $("#knobs").addEventListener("input", moved);
  $("#again").addEventListener("click", () => { $("#knobs").reset(); moved(); });
  moved();
  root.dataset.ready = "true";
  if (!$("#core").textContent || typeof WebAssembly === "undefined") return;
  try {
    say("The simulator starts …");
    await startWorker();
    moved();
  } catch (error) {
    worker = null;
    moved();
  }
}

startTheme();
startPlay();
