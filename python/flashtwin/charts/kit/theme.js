// Light and dark. Charts are drawn in variables of the style sheet, so they change with it.
const root = document.documentElement;
const prefersDark = matchMedia("(prefers-color-scheme: dark)");

const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);
const font = () => getComputedStyle(root).getPropertyValue("--font").trim();

// A colour of the style sheet as the theme has it now: a picture that is saved knows no variables.
function colour(name_) {
  const probe = document.createElement("i");
  probe.style.color = `var(--${name_})`;
  document.body.append(probe);
  const rgb = getComputedStyle(probe).color;
  probe.remove();
  return rgb;
}

function chartConfig() {
  const quiet = "var(--quiet)", faint = "var(--faint)", grid = "var(--line)";
  return {
    background: "transparent",
    font: font(),
    padding: { left: 0, top: 4, right: 8, bottom: 4 },
    view: { stroke: null },
    axis: {
      labelColor: quiet, titleColor: quiet, gridColor: grid, domainColor: faint, tickColor: faint,
      labelFontSize: 11, titleFontSize: 11, titleFontWeight: "normal", titlePadding: 6,
      labelPadding: 4, tickSize: 4,
    },
    axisX: { grid: false },
    axisY: { domain: false, ticks: false },
    text: { color: "var(--ink)" },
  };
}

function showTheme() {
  const button = $("#theme");
  button.setAttribute("aria-pressed", String(isDark()));
  button.title = isDark() ? "Switch to light" : "Switch to dark";
}

function startTheme() {
  showTheme();
  $("#theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("flashtwin-theme", root.dataset.theme); } catch (error) { /* not remembered */ }
    showTheme();
  });
  prefersDark.addEventListener("change", showTheme);
  // What belongs to the report and is folded away on the screen is opened for paper.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = $$("details.open-on-paper:not([open])");
    opened.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((one) => { one.open = false; }));
}
