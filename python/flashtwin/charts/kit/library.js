// The scripts that draw charts, Vega's, travel packed: a page is a third smaller for it. A browser that
// cannot unpack them shows the tables.
const library = (async () => {
  const script = document.createElement("script");
  script.textContent = await (await unpacked("library")).text();
  document.head.append(script);
})();
library.catch(() => {});

// Whoever prints a page without a hand on it does so at its load event; a frame whose document is
// still open holds that back.
function holdLoad() {
  const frame = document.createElement("iframe");
  Object.assign(frame, { hidden: true, title: "charts are being drawn" });
  document.body.append(frame);
  frame.contentDocument.open();
  return () => { frame.contentDocument.close(); frame.remove(); };
}
