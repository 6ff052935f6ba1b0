// What a model is told besides the texts of its conversation: each sentence is held against what the model sees, in a text prompt and in
// the messages of every format. A sentence without a check fails.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { textsOf } from "./agent-session.mjs";
import { project } from "./harness.mjs";

const folder = await project("told", {
  "entry.mjs": `export * from "contextweaver/openai"; export { ContextManager, countTokens, drilldownTool, recallTool } from "contextweaver";`,
});
const { ContextManager, contextWeaver, countTokens, drilldownTool, recallTool } = await import(pathToFileURL(join(folder, "entry.mjs")));

const FORMATS = ["openai-chat", "openai-responses", "anthropic", "gemini", "ai-sdk-model", "ai-sdk-ui"];
const BUDGETS = [300, 700, 1_500, 4_000];
/** Characters from which on two lines that are the same are no accident. */
const LONG = 14;
const HANDLE = "artifact:result:c1";

const numbered = (count, line) => Array.from({ length: count }, (_, n) => line(n)).join("\n");
const RESULTS = {
  log: [
    numbered(600, (n) => {
      const time = `2026-03-${String(1 + (n % 28)).padStart(2, "0")}T10:${String(n % 60).padStart(2, "0")}:07,${String((n * 37) % 1000).padStart(3, "0")}`;
      if (n === 333) return `${time} ERROR order 4711 failed: card declined by the bank of C-17`;
      if (n % 29 === 5) return `${time} ERROR disk ${n} of the array answered late`;
      if (n % 41 === 7) return "ERROR connection to the printer was refused";
      return `${time} INFO request ${n} of worker-${n % 7} served in ${(n * 7919) % 997} ms`;
    }),
    "text/plain",
  ],
  csv: [
    ["id,customer,status,total", numbered(400, (n) => `${7000 + n},C-${n % 90},${n === 200 ? "held" : "shipped"},${(n * 31) % 500}`)].join("\n"),
    "text/csv",
  ],
  json: [
    JSON.stringify({
      page: 1,
      orders: Array.from({ length: 300 }, (_, n) => ({
        id: 9000 + n,
        état: n === 120 ? "held" : "paid",
        note: `parcel ${(n * 7919) % 10007} to dock ${n % 11}`,
      })),
    }),
    "application/json",
  ],
  code: [
    [
      numbered(250, (n) => `export const a_${n} = compute(${(n * 7919) % 10007}, "a-${(n * 104729) % 99991}");`),
      "export function failedOrders(orders, error) {",
      "  if (error) throw new Error(error);",
      "  return orders.filter((order) => order.failed);",
      "}",
    ].join("\n"),
    "text/plain",
  ],
  prose: [
    numbered(
      160,
      (n) => `Chapter ${n} says that the harbour of day ${n} was measured by ${(n * 17) % 23} people, and that the list of orders grew by ${n * 3}.`,
    ),
    "text/plain",
  ],
  minified: [`var a=1;${Array.from({ length: 900 }, (_, n) => `function f${n}(b,c){return b*${n}+c};`).join("")}`, "text/plain"],
};

function holding([raw_output, media_type], options = {}) {
  const manager = new ContextManager(options);
  manager.ingest({ id: "u1", kind: "user_turn", text: "Why did order 4711 fail, and which orders are held?" });
  manager.ingest({ id: "c1", kind: "tool_call", text: "{}", metadata: { function_name: "read", arguments: {} } });
  manager.ingestToolResult({ tool_call_id: "c1", tool_name: "read", raw_output, media_type });
  return manager;
}

/** What a model sees of the result, in a text prompt and in messages. */
function* seen(manager, budget_tokens) {
  const options = { phase: "answer", budget_tokens, query: "which orders failed?" };
  const { prompt, items } = manager.build(options);
  const { start, end, rendered_as } = items.find(({ id }) => id === "result:c1") ?? {};
  // Offsets count bytes of UTF-8.
  if (end) yield ["text", Buffer.from(prompt).subarray(start, end).toString(), rendered_as];
  for (const format of FORMATS) {
    const { messages, pack } = manager.buildMessages({ ...options, format });
    const form = pack.items.find(({ id }) => id === "result:c1")?.rendered_as;
    if (form) yield [format, textsOf(messages).at(-1), form];
  }
}

const whole = (manager, handle, selector) => {
  const parts = [];
  for (let next = selector; next; next = parts.at(-1).next) parts.push(manager.drilldown(handle, next, { max_tokens: 4_000 }));
  return parts.map(({ text }) => text).join("\n");
};
const linesOf = (text) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.length >= LONG);
/** Words and numbers are alike. */
const formOf = (line) =>
  line
    .trim()
    .replaceAll(/[\p{L}\d]+/gu, (word) => (/\d/.test(word) ? "0" : "w"))
    .replaceAll(/w( w)+/g, "w");
const kind = (line) => line.replaceAll(/\d+/g, "0");

/** Sentences about a result, and what must be so where they stand. */
const ABOUT_A_RESULT = [
  {
    what: "how much is shown, and where more is",
    form: /^\((?<kept>\d+) of (?<total>\d+) tokens; drilldown (?<handle>\S+?)(?: (?<hint>\{.*\}))?\)$/gm,
    holds({ kept, total, handle, hint }, { text, raw, manager }) {
      assert.equal(handle, HANDLE);
      assert.ok(Math.abs(Number(total) - countTokens(raw)) <= 1, `${total} tokens`);
      assert.ok(Number(kept) < Number(total) && Math.abs(Number(kept) - countTokens(text)) < 60, `${kept} tokens are shown`);
      if (hint === undefined) return;
      const there = linesOf(whole(manager, handle, JSON.parse(hint)));
      const again = there.filter((line) => text.includes(line)).length;
      assert.ok(there.length === 0 || again * 2 <= there.length, `${again} of ${there.length} lines of ${hint} are shown already`);
    },
  },
  {
    what: "the handle in a label",
    form: /^\[TOOL RESULT(?: \(EXCERPT\))? \[(?<handle>[^\]]+)\]\]$/gm,
    holds: ({ handle }, { manager }) => assert.ok(manager.drilldown(handle, { type: "lines", end: 1 }).text.length > 0),
  },
  {
    what: "a line that is there several times",
    form: /^(?<count>\d+) times: (?<line>.*)$/gm,
    holds({ count, line }, { raw }) {
      assert.equal(raw.split("\n").filter((own) => own.includes(line.split("…")[0])).length, Number(count));
    },
  },
  {
    what: "lines that differ in numbers",
    form: /^(?<count>\d+) similar lines: (?<line>.*)$/gm,
    holds({ count, line }, { raw }) {
      const alike = raw.split("\n").filter((own) => kind(own).includes(kind(line.split("…")[0])));
      assert.deepEqual([alike.length, new Set(alike).size > 1], [Number(count), true]);
    },
  },
  {
    what: "lines of one form",
    form: /^(?<count>\d+) lines like: (?<line>.*)$/gm,
    holds({ count, line }, { raw }) {
      const alike = raw.split("\n").filter((own) => formOf(own).startsWith(formOf(line.split("…")[0])));
      assert.ok(alike.length >= Number(count), `${alike.length} lines`);
    },
  },
  { what: "how long it is", form: /^(?<count>\d+) lines?(?: of code)?$/gm, holds: ({ count }, { raw }) => assert.equal(raw.split("\n").length, Number(count)) },
  {
    what: "how many rows",
    form: /^(?<count>\d+) rows, (?<columns>\d+) columns/gm,
    holds({ count, columns }, { raw }) {
      assert.deepEqual([Number(count), Number(columns)], [raw.split("\n").length - 1, raw.split("\n")[0].split(",").length]);
    },
  },
];

/** How the result stands there: as a digest, or as parts below one. */
const FORMS = new Set(["whole", "excerpt"]);

test("what stands about a result is so", () => {
  const met = new Set();
  for (const [name, result] of Object.entries(RESULTS)) {
    const manager = holding(result);
    for (const budget of BUDGETS) {
      for (const [where, text, form] of seen(manager, budget)) {
        if (!FORMS.has(form)) continue;
        const about = `${name}, ${budget} tokens, ${where}`;
        for (const { what, form: pattern, holds } of ABOUT_A_RESULT) {
          for (const { groups } of text.matchAll(pattern)) {
            met.add(what);
            try {
              holds(groups, { text, raw: result[0], manager });
            } catch (error) {
              assert.fail(`${about}: ${what}: ${error.message}\n${text}`);
            }
          }
        }
        const lines = linesOf(text);
        const source = result[0].split("\n").map((line) => line.trim());
        const twice = lines.filter((line, at) => lines.indexOf(line) !== at && source.filter((own) => own === line).length < 2);
        assert.deepEqual(twice, [], `${about}: twice\n${text}`);
        // Code and prose are no tables.
        if (name !== "csv" && name !== "json") assert.doesNotMatch(text, /\d+ rows?, \d+ columns?/, about);
      }
    }
    manager.free();
  }
  for (const { what } of ABOUT_A_RESULT) assert.ok(met.has(what), `nothing said ${what}`);
});

/** Sentences of the tools' descriptions, and what makes them true. */
const ABOUT_TOOLS = {
  "Read a part of a stored result, from `start` (0 is the first) up to and without `end`.": ({ read, raw }) => {
    assert.equal(read({ type: "lines", start: 0, end: 2 }), raw.split("\n").slice(0, 2).join("\n"));
  },
  "rows take columns, where: [{column, op (= != < <= > >= contains), value}]; json_keys keys; json_path a path as items[0].name; search ignore_case.": ({
    csv,
    json,
    read,
  }) => {
    for (const [op, value] of [
      ["=", "held"],
      ["==", "held"],
      ["!=", "shipped"],
      ["<", "i"],
      ["<=", "held"],
      ["contains", "eld"],
    ]) {
      assert.match(csv({ type: "rows", columns: ["id", "status"], where: [{ column: "status", op, value }] }), /^id,status\n7200,held$/);
    }
    assert.equal(
      csv({
        type: "rows",
        columns: ["id"],
        where: [
          { column: "id", op: ">", value: 7398 },
          { column: "id", op: ">=", value: 7399 },
        ],
      }),
      "id\n7399",
    );
    assert.equal(json({ type: "json_keys", keys: ["page"] }), '{"page": 1}');
    assert.match(json({ type: "json_path", path: "orders[120].note" }), /parcel/);
    assert.match(read({ type: "search", text: "CARD declined", ignore_case: true }), /order 4711/);
  },
  "outline tells what there is.": ({ read }) => assert.match(read({ type: "outline" }), /^600 lines, /),
  "Find what is no longer shown, by words that stood near it.": ({ manager }) => {
    assert.match(manager.recall("bank that declined order 4711", { hidden_only: true }).text, /C-17/);
  },
};

test("what the tools say of themselves is so, and costs little", () => {
  const tools = [drilldownTool(), recallTool()];
  const managers = Object.fromEntries(["log", "csv", "json"].map((name) => [name, holding(RESULTS[name])]));
  const reads = (name) => (selector) => managers[name].drilldown(HANDLE, selector).text;
  const world = { manager: managers.log, raw: RESULTS.log[0], read: reads("log"), csv: reads("csv"), json: reads("json") };
  const sentences = tools.flatMap(({ description }) => description.split(/(?<=\.) /));
  assert.deepEqual([...sentences].sort(), Object.keys(ABOUT_TOOLS).sort(), "a sentence without a check, or a check without a sentence");
  for (const sentence of sentences) ABOUT_TOOLS[sentence](world);
  const described = JSON.stringify(tools).match(/"description":"[^"]+"/g).length;
  assert.equal(described, 2, "of the tools alone");
  assert.ok(HANDLE.startsWith("artifact:"));
  const cost = ({ name, description, args_schema: schema }) => countTokens(JSON.stringify({ name, description, schema }));
  assert.ok(tools.reduce((sum, tool) => sum + cost(tool), 0) <= 350);
  for (const manager of Object.values(managers)) manager.free();
});

test("a part says where it stands and how the rest is read, and is as large as was asked", () => {
  const [raw] = RESULTS.code;
  const lines = raw.split("\n");
  for (const budget_tokens of [4_000, 16_000, 200_000]) {
    const served = contextWeaver({ tools: [], budget_tokens });
    const messages = [
      { role: "user", content: "Fix a.js." },
      { role: "assistant", content: null, tool_calls: [{ id: "c1", type: "function", function: { name: "read_file", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "c1", content: raw },
    ];
    served.fit({ model: "gpt-5", messages });
    const room = Math.floor(budget_tokens / 4);
    const all = countTokens(raw);
    let calls = 0;
    const ask = (args) => served.answer({ type: "function", id: `d${calls++}`, function: { name: "drilldown", arguments: JSON.stringify(args) } }).content;
    const form = /\n\(lines (?<first>\d+)-(?<last>\d+) of (?<total>\d+), counted from 0(?:; for the rest: (?<rest>\{.*\}))?\)$/;
    const said = (answer) => {
      const { first, last, total, rest } = form.exec(answer)?.groups ?? assert.fail(answer.slice(-200));
      return { text: answer.replace(form, ""), first: Number(first), last: Number(last), total: Number(total), rest: rest && JSON.parse(rest) };
    };
    for (const [asked, most] of [
      // Models write null, and 0, for what they leave out.
      ...[undefined, null, 0].map((none) => [none, Math.min(2_000, room)]),
      [300, 300],
      [100_000, room],
    ]) {
      const answer = ask({ handle: HANDLE, selector: { type: "lines", start: 0, end: lines.length }, ...(asked !== undefined && { max_tokens: asked }) });
      const { text, first, last, total, rest } = said(answer);
      assert.ok(countTokens(text) <= most && countTokens(answer) <= room, `${countTokens(answer)} of ${most}, room ${room}`);
      assert.ok(countTokens(text) >= Math.min(all, most) - 90, `${countTokens(text)} of ${most}`);
      assert.deepEqual([total, text], [lines.length, lines.slice(first, last + 1).join("\n")]);
      assert.equal(rest === undefined, last === total - 1);
      if (rest) assert.equal(said(ask({ handle: HANDLE, selector: rest })).first, last + 1);
    }
    assert.equal(said(ask({ handle: HANDLE })).first, 0, "without a selector");
    // A file of 5,000 tokens took twelve calls.
    if (room >= all) assert.equal(said(ask({ handle: HANDLE, max_tokens: all })).rest, undefined);
    // What was read stays as it was read.
    const asked = {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "r1", type: "function", function: { name: "drilldown", arguments: JSON.stringify({ handle: HANDLE, max_tokens: room }) } }],
    };
    const answer = served.answer(asked.tool_calls[0]);
    const sent = served.fit({ model: "gpt-5", messages: [...messages, asked, answer] });
    assert.equal(sent.messages.at(-1).content, answer.content);
    served.free();
  }
});

test("a part of what matches says of how much it is", () => {
  for (const name of ["csv", "json", "log"]) {
    const served = contextWeaver({ tools: [], budget_tokens: 4_000 });
    const [content, media_type] = RESULTS[name];
    const call = { id: "c1", type: "function", function: { name: "read", arguments: "{}" } };
    served.manager.ingest({ id: "c1", kind: "tool_call", text: "{}", metadata: { function_name: "read", arguments: {} } });
    served.manager.ingestToolResult({ tool_call_id: call.id, tool_name: "read", raw_output: content, media_type });
    let calls = 0;
    const ask = (args) =>
      served.answer({ type: "function", id: `d${calls++}`, function: { name: "drilldown", arguments: JSON.stringify({ handle: HANDLE, ...args }) } }).content;
    const last = (text) => text.split("\n").at(-1);
    if (name === "log") {
      assert.equal(last(ask({ selector: { type: "search", text: "card declined" } })), "(1 hit)");
      assert.equal(last(ask({ selector: { type: "search", text: "no such words" } })), "(no hits)");
      const many = { type: "search", text: "ERROR", max_hits: 5 };
      assert.match(last(ask({ selector: many })), /^\(hits 0-4 of \d+, counted from 0; for the rest: \{.*"start":5\}\)$/);
    } else {
      const [column, held, all] = name === "csv" ? ["status", "held", 400] : ["état", "held", 300];
      const rows = (value) => ({ type: "rows", where: [{ column, value }] });
      assert.equal(last(ask({ selector: rows(held) })), `(1 row matches of ${all})`);
      assert.equal(last(ask({ selector: rows("lost") })), `(no row matches of ${all})`);
      const other = { type: "rows", where: [{ column, op: "!=", value: held }] };
      const cut = last(ask({ selector: other, max_tokens: 200 }));
      const [, end, rest] =
        new RegExp(`^\\(matching rows 0-(\\d+) of ${all - 1}, counted from 0; ${all} rows in all; for the rest: (.*)\\)$`).exec(cut) ?? assert.fail(cut);
      assert.match(last(ask({ selector: JSON.parse(rest), max_tokens: 200 })), new RegExp(`^\\(matching rows ${Number(end) + 1}-\\d+ of ${all - 1}, `));
    }
    served.free();
  }
});

test("what a recall cites stands there, and what is shown does not come back", () => {
  const manager = holding(RESULTS.log);
  const { text } = manager.recall("order 4711 declined", { max_tokens: 400 });
  const labels = [...text.matchAll(/^\[(?:[A-Z ]+) \[(?<handle>\S+)(?: chars (?<start>\d+)-(?<end>\d+) of (?<total>\d+))?\]\]$/gm)];
  assert.ok(labels.length > 0);
  for (const {
    index,
    0: label,
    groups: { handle, start, end, total },
  } of labels) {
    if (start === undefined) continue;
    const slice = manager.drilldown(handle, { type: "head", start: Number(start), chars: Number(end) - Number(start) });
    assert.ok(text.slice(index + label.length + 1).startsWith(slice.text), slice.text);
    assert.equal(slice.total, Number(total));
  }
  manager.free();
  const served = contextWeaver({ tools: [], budget_tokens: 16_000 });
  const said = { role: "user", content: "The harbour master sat by the desk with the lamp." };
  served.fit({ model: "gpt-5", messages: [said] });
  const asking = (more) => JSON.stringify({ query: "desk of the harbour master", ...more });
  const call = { type: "function", id: "r1", function: { name: "recall", arguments: asking() } };
  assert.equal(served.answer(call).content, "Nothing was found beside what is shown. Try other words that stood near it.");
  // What is a statement is told as one that holds.
  served.fit({ model: "gpt-5", messages: [said, { role: "user", content: "The desk of the harbour master is 12-B." }] });
  for (const more of [undefined, { max_tokens: null }, { max_tokens: 0 }]) {
    const { content } = served.answer({ ...call, function: { name: "recall", arguments: asking(more) } });
    assert.equal(content, "[STANDING INSTRUCTIONS]\n- The desk of the harbour master is 12-B. (1)", asking(more));
  }
  served.free();
});
