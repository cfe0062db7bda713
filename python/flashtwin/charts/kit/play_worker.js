// The Worker of a page to play with: it has the core, and answers one question after another.
let core;

self.onmessage = async ({ data }) => {
  try {
    if (data.core) {
      core = (await WebAssembly.instantiate(data.core, {})).instance.exports;
      self.postMessage({ ready: true });
      return;
    }
    const began = performance.now();
    const asked = new TextEncoder().encode(data.question);
    // Each call may let the memory grow, which leaves no use for a view of it from before.
    const place = core.question(asked.length);
    new Uint8Array(core.memory.buffer, place, asked.length).set(asked);
    const at = core.answer();
    const bytes = new Uint8Array(core.memory.buffer, at, core.answer_length()).slice();
    const answer = JSON.parse(new TextDecoder().decode(bytes));
    self.postMessage({ number: data.number, answer, took_ms: performance.now() - began });
  } catch (error) {
    self.postMessage({ number: data.number, broken: String(error) });
  }
};
