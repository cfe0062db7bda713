// The scripts that draw charts, Vega's, travel packed: a page is a third smaller for it. A browser that
// cannot unpack them shows the tables.
const library = (async () => {
  const packed = Uint8Array.from(atob(document.getElementById("library").textContent), (sign) => sign.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(stream).text();
  document.head.append(script);
})();
library.catch(() => {});
