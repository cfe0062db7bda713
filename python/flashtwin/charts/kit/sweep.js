// The charts of a sweep, each drawn once: theirs are few points and no zoom.
async function draw(host) {
  try {
    await library;
    await vegaEmbed(host, DATA.panels[host.dataset.panel], {
      mode: "vega-lite", renderer: "svg", actions: false, ast: true, defaultStyle: false, logLevel: 1,
      config: chartConfig(),
    });
    $("svg", host).setAttribute("aria-hidden", "true");
  } catch (error) {
    const note = document.createElement("p");
    note.className = "empty";
    note.textContent = "This chart could not be drawn; its numbers are in the table.";
    host.replaceChildren(note);
    console.error(`${host.dataset.panel}: ${error.message}`);
  }
}

startTheme();
const drawn = holdLoad();
Promise.all($$("[data-panel]").map(draw)).then(() => { root.dataset.ready = "true"; drawn(); });
