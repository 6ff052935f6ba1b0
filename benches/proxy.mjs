// What the proxy adds to a call of a model: milliseconds until the request is at the provider, and memory of many conversations.
//
//   node benches/proxy.mjs [--package <folder of the built package>] [--tokens 60000] [--calls 200] [--conversations 200] [--json]
//
// The provider is a function in the same process that answers at once, so that all that is measured is the proxy's own work; what a
// request and an answer take over the network comes to it with and without. Conversations grow by a call of a tool and a result of 250
// tokens, as those of coding agents do.
//   added     from the call of the handler to the call of `fetch`, near the given length: as it came, and shortened to half of it; milliseconds
//             of the clock, and those that the processor was at work for this process, which other programs do not add to
//   first     from the first byte of the provider's stream to the first byte of the client's
// Each call is made through `plain` as well, in turn: the least that a proxy does, which reads the body and sends it on.
//   memory    of the process after one call of each of so many conversations of the given length, above what it was with none
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const home = dirname(dirname(fileURLToPath(import.meta.url)));
const { values: args } = parseArgs({
  options: {
    package: { type: "string", default: join(home, "pkg") },
    tokens: { type: "string", default: "60000" },
    calls: { type: "string", default: "200" },
    conversations: { type: "string", default: "200" },
    json: { type: "boolean", default: false },
  },
});
const { proxy } = await import(pathToFileURL(join(resolve(args.package), "dist/proxy.js")));
const [TOKENS, CALLS, CONVERSATIONS] = [args.tokens, args.calls, args.conversations].map(Number);
const CHARS = 4;
const RESULT = 1_000;

const result = (seed) =>
  Array.from({ length: RESULT / 40 }, (_, at) => `src/file-${seed}-${at}.ts: value ${(seed * 31 + at * 17) % 9973} ok`.padEnd(39)).join("\n");
const step = (at) => [
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: `call_${at}`, type: "function", function: { name: "read_file", arguments: JSON.stringify({ path: `src/file-${at}.ts` }) } }],
  },
  { role: "tool", tool_call_id: `call_${at}`, content: result(at) },
];
const began = (name) => [
  { role: "system", content: "You are a coding agent." },
  { role: "user", content: `Task ${name}: find the value that is wrong.` },
];
const tools = [
  { type: "function", function: { name: "read_file", description: "Reads a file", parameters: { type: "object", properties: { path: { type: "string" } } } } },
];
const stepsFor = (tokens) => Math.floor((tokens * CHARS) / (RESULT + 220));
const bodyOf = (messages) => JSON.stringify({ model: "gpt-5", stream: true, messages, tools });

let arrived;
let worked;
let streamed;
const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};
const events = [
  `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"gpt-5","choices":[{"index":0,"delta":{"role":"assistant","content":"ok"},"finish_reason":null}]}\n\n`,
  `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"gpt-5","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n`,
  "data: [DONE]\n\n",
];
const provider = async () => {
  [arrived, worked] = [performance.now(), cpu()];
  let at = 0;
  const stream = new ReadableStream({
    pull(controller) {
      if (at === 0) streamed = performance.now();
      if (at === events.length) controller.close();
      else controller.enqueue(Buffer.from(events[at++]));
    },
  });
  return new Response(stream, { headers: { "content-type": "text/event-stream" } });
};

/** Reads a request and sends it on. */
async function plain(request) {
  const body = await request.arrayBuffer();
  const sent = new Request("https://api.openai.com/v1/chat/completions", { method: "POST", headers: request.headers, body });
  const response = await provider(sent);
  return new Response(response.body, { status: response.status, headers: response.headers });
}

async function call(handler, text) {
  const [begun, before] = [performance.now(), cpu()];
  const response = await handler(new Request("http://localhost/v1/chat/completions", { method: "POST", body: text, headers: { authorization: "Bearer k" } }));
  const [added, work] = [arrived - begun, worked - before];
  const reader = response.body.getReader();
  await reader.read();
  const first = performance.now() - streamed;
  while (!(await reader.read()).done);
  return { added, work, first, sent: response.headers.get("x-contextweaver")?.split(";")[0] };
}

const quantile = (list, share) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))];

const times = (calls, name) => calls.map((one) => one[name]);
const figures = (calls) => ({
  p50: quantile(times(calls, "added"), 0.5),
  p99: quantile(times(calls, "added"), 0.99),
  work_p10: quantile(times(calls, "work"), 0.1),
  work_p50: quantile(times(calls, "work"), 0.5),
  first_p50: quantile(times(calls, "first"), 0.5),
  first_p99: quantile(times(calls, "first"), 0.99),
});

/** Conversations that grow up to the length; the last calls of each count. */
async function latency(budget_tokens) {
  const handler = proxy({ budget_tokens, token: false, fetch: provider });
  const [ours, others] = [[], []];
  const last = stepsFor(TOKENS);
  for (let turn = 0; ours.length < CALLS; turn += 1) {
    const messages = began(`${budget_tokens}-${turn}`);
    for (let at = 0; at < last; at += 1) {
      messages.push(...step(turn * last + at));
      const text = bodyOf(messages);
      const one = await call(handler, text);
      const other = await call(plain, text);
      // The first of a process are those of a compiler.
      if (at > last * 0.8 && turn > 0) [ours, others].forEach((list, which) => list.push([one, other][which]));
    }
  }
  handler.free();
  return { calls: ours.length, sent: ours.at(-1).sent, ...figures(ours), plain: figures(others) };
}

async function memory() {
  const handler = proxy({ budget_tokens: 2 * TOKENS, token: false, fetch: provider, limits: { max_conversations: CONVERSATIONS } });
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  const texts = Array.from(
    { length: 2 * CONVERSATIONS },
    (_, name) => () => bodyOf([...began(`memory-${name}`), ...Array.from({ length: stepsFor(TOKENS) }, (__, at) => step(name * 1_000 + at)).flat()]),
  );
  const after = [];
  for (const half of [texts.slice(0, CONVERSATIONS), texts.slice(CONVERSATIONS)]) {
    await Promise.all(half.map((text) => call(handler, text())));
    globalThis.gc?.();
    after.push((process.memoryUsage().rss - before) / 2 ** 20);
  }
  const { conversations, units } = handler.stats();
  handler.free();
  return { conversations, units, megabytes: after[0], megabytes_twice: after[1] };
}

const report = { whole: await latency(4 * TOKENS), shortened: await latency(TOKENS / 2), memory: await memory() };
if (args.json) {
  console.log(JSON.stringify(report));
} else {
  const columns = ["p50", "p99", "work_p10", "work_p50", "first_p50", "first_p99"];
  console.log(
    `${`conversations of ${TOKENS} tokens, ms`.padEnd(36)}${["added p50", "p99", "work p10", "p50", "first p50", "p99"].map((name) => name.padStart(10)).join("")}`,
  );
  for (const name of ["whole", "shortened"]) {
    const { calls, sent, plain: beside, ...ours } = report[name];
    for (const [label, row] of [
      [`${name} (${sent}, ${calls} calls)`, ours],
      ["  plain", beside],
    ]) {
      console.log(`${label.padEnd(36)}${columns.map((column) => row[column].toFixed(2).padStart(10)).join("")}`);
    }
  }
  const { conversations, megabytes, megabytes_twice } = report.memory;
  console.log(`${conversations} conversations at once: ${megabytes.toFixed(0)} MB; after as many others, ${megabytes_twice.toFixed(0)} MB`);
}
