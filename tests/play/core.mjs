// A question to the core in node: `node core.mjs CORE.wasm QUESTION.json [REPEATS]`. The answer goes to
// stdout, and with repeats the milliseconds of each as JSON instead.
import { readFileSync } from "node:fs";

const [core, asked, repeats] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(core), {});
const { memory, question, answer, answer_length } = instance.exports;
const bytes = readFileSync(asked);

function ask() {
  const place = question(bytes.length);
  new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
  const at = answer();
  return Buffer.from(new Uint8Array(memory.buffer, at, answer_length()));
}

if (repeats === undefined) {
  process.stdout.write(ask());
} else {
  const times = Array.from({ length: Number(repeats) }, () => {
    const began = performance.now();
    JSON.parse(ask().toString());
    return performance.now() - began;
  });
  process.stdout.write(JSON.stringify(times));
}
