// The result of an MCP tool with an image of 8 MiB: what it costs to take it into a log, beside what any program has to do,
// in turns in one process. `node benches/mcp-image.mjs [folder of a package]`
import { randomFillSync } from "node:crypto";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const RUNS = 15;
const folder = resolve(process.argv[2] ?? "pkg");
const { ContextManager, mcpResultToEnvelope } = await import(pathToFileURL(join(folder, "dist/node/index.js")).href);

const image = randomFillSync(Buffer.alloc(8 * 1024 * 1024));
const text = JSON.stringify({
  content: [
    { type: "text", text: "a screenshot" },
    { type: "image", data: image.toString("base64"), mimeType: "image/png" },
  ],
});

const ways = {
  "JSON.parse + Buffer.from": () => {
    const { content } = JSON.parse(text);
    return Buffer.from(content[1].data, "base64").length;
  },
  ingestMcpResult: () => {
    const result = JSON.parse(text);
    const begun = performance.now();
    const manager = new ContextManager();
    const { envelope } = manager.ingestMcpResult({ tool_call_id: "c", tool_name: "t", result });
    const time = performance.now() - begun;
    const size = manager.artifacts.bytes(envelope.artifacts.at(-1).handle).length;
    manager.free();
    return [size, time];
  },
  mcpResultToEnvelope: () => {
    const result = JSON.parse(text);
    const begun = performance.now();
    const { binaries } = mcpResultToEnvelope(result, "t");
    const time = performance.now() - begun;
    return [[...binaries.values()][0].bytes.length, time];
  },
};

const times = new Map(Object.keys(ways).map((name) => [name, []]));
for (let run = 0; run < RUNS; run += 1) {
  for (const [name, way] of Object.entries(ways)) {
    globalThis.gc?.();
    const begun = performance.now();
    const answer = way();
    const whole = performance.now() - begun;
    const [size, time] = Array.isArray(answer) ? answer : [answer, whole];
    if (size !== image.length) throw new Error(`${name}: ${size} bytes`);
    times.get(name).push(time);
  }
}
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
const plain = median(times.get("JSON.parse + Buffer.from"));
for (const [name, list] of times) {
  const time = median(list);
  console.log(`${name.padEnd(26)} median ${time.toFixed(1).padStart(7)} ms  least ${list[0].toFixed(1).padStart(7)} ms  ${(time / plain).toFixed(2)}x`);
}
