// A session of an agent that every adapter is put through, in the words of no SDK: 200 tools, a large result, a picture, many
// steps, and at the end a question whose answer stood in the large result.
import assert from "node:assert/strict";
import { encode } from "gpt-tokenizer/encoding/o200k_base";

export const BUDGET = 8_000;
export const STEPS = 60;
export const QUESTION = "Read the export of the orders. I will ask about one of them.";
/** What one of the orders has that no other has, and no digest shows. */
const parcel = (n) => `parcel ${(n * 7919) % 10007}`;
export const ANSWER = parcel(711);
/** The same of another, and words that stand near it. */
const AGAIN = parcel(222);
const FIND_AGAIN = { query: "the order with id 4222, its status and its note" };
/** Where it stands. */
export const FIND_ROW = { type: "rows", where: [{ column: "id", op: "=", value: 4711 }] };
export const PICTURE = Buffer.alloc(3_000, 7).toString("base64");
/** The id of the call whose result is large. */
export const LARGE = "c0";
/** Calls of the whole session. */
export const CALLS = 1 + 2 + 2 * (STEPS - 4) + 2;

/** 900 orders, none like another and none that stands out. */
export const orders = () =>
  Array.from({ length: 900 }, (_, n) => ({ id: 4000 + n, customer: `C-${n % 37}`, status: ["paid", "failed", "open"][n % 3], note: parcel(n) }));

const object = (properties) => ({ type: "object", properties });

/** Tools, of which a few are of use: what they are, and what they return. The one that takes a picture returns its data. */
export function manyTools(count = 200) {
  const executed = [];
  const tools = Array.from({ length: count - 2 }, (_, n) => {
    const [area, verb] = [["billing", "calendar", "crm", "deploy", "mail", "storage"][n % 6], ["archive", "count", "list", "move", "rename"][n % 5]];
    return {
      name: `${area}_${verb}_${n}`,
      description: `${verb} the ${area} records of group ${n}`,
      schema: object({ group: { type: "integer" } }),
      returns: () => ({ done: n }),
    };
  });
  tools.push({
    name: "export_orders",
    description: "Read the export of all orders with their status",
    schema: object({ since: { type: "string" } }),
    returns: orders,
  });
  tools.push({ name: "take_picture", description: "Take a picture of the order desk", schema: object({}), returns: () => ({ data: PICTURE }) });
  return { executed, tools: tools.map(({ returns, ...tool }) => ({ ...tool, run: () => (executed.push(tool.name), returns()) })) };
}

/** Texts of what is sent, wherever they stand, but those under some keys. */
export function textsOf(value, without = [], found = []) {
  if (typeof value === "string") found.push(value.includes(PICTURE) ? "" : value);
  else if (Array.isArray(value)) for (const one of value) textsOf(one, without, found);
  else if (typeof value === "object" && value !== null)
    for (const [key, one] of Object.entries(value)) if (!without.includes(key)) textsOf(one, without, found);
  return found;
}

/** Whether texts that are sent keep to the budget, as the package counts and as a tokenizer of a provider does. */
export function withinBudget(texts, countTokens, budget = BUDGET) {
  if (budget === Infinity) return;
  for (const count of [countTokens, (text) => encode(text).length]) {
    const tokens = texts.reduce((sum, text) => sum + count(text), 0);
    assert.ok(tokens <= budget, `${tokens} tokens`);
  }
}

/**
 * A model that reads the export first, works for long, and then needs what stood in the export. It is told what it was sent and
 * the names of the tools that it was offered, and says `text` or `calls`. Not every provider takes pictures as results.
 */
export function script({ picture = true } = {}) {
  let step = 0;
  let found;
  return ({ sent, offered }) => {
    const at = step++;
    const asks = (...calls) => {
      for (const { name } of calls) assert.ok(offered.includes(name), `${name} is not offered at step ${at}: ${offered}`);
      return { calls };
    };
    if (at === 0) return asks({ id: LARGE, name: "export_orders", input: {} });
    if (at === 1) return asks({ id: "c1", name: "take_picture", input: {} }, { id: "c1b", name: "find_tools", input: { query: "rename calendar records" } });
    if (at === 2 && picture) assert.ok(JSON.stringify(sent).includes(PICTURE), "the picture did not arrive");
    if (at < STEPS - 2) {
      const listed = offered.find((one) => one.startsWith("calendar_rename"));
      // What is found is told of, and what is not in the list is run by `call_tool`.
      found ??= listed ?? /calendar_rename_\d+(?=: )/.exec(textsOf(sent).join("\n"))?.[0];
      assert.ok(found, `what was found is not told at step ${at}`);
      const meant = (id, args) => (listed ? { id, name: listed, input: args } : { id, name: "call_tool", input: { name: found, arguments: args } });
      return asks(meant(`c${at}`, { group: at }), meant(`c${at}b`, { group: -at }));
    }
    const text = textsOf(sent).join("\n");
    if (at === STEPS - 2) {
      const [, handle] = /drilldown (artifact:result:c0) /.exec(text) ?? assert.fail(`no way to the export:\n${text.slice(0, 3_000)}`);
      assert.ok(!text.includes(ANSWER), "the answer was not hidden");
      assert.ok(!text.includes(AGAIN), "what is to be found again was not hidden");
      return asks({ id: "again", name: "recall", input: FIND_AGAIN }, { id: "last", name: "drilldown", input: { handle, selector: FIND_ROW } });
    }
    assert.ok(text.includes(ANSWER), "the answer was not found");
    assert.ok(text.includes(AGAIN), "it was not found again");
    assert.match(text, /TOOL RESULT \[artifact:result:c0 chars \d+-\d+ of \d+\]/, "it is not said where it stands");
    return { text: ANSWER };
  };
}

/** Calls of a session in which each answer reads a page, and the last is an answer. */
export const PAGES = 18;
export const READ = { name: "read", description: "Read a page", schema: object({ page: { type: "integer" } }) };
const WORDS = "order carrier customer warehouse paid late north letter morning refund window shipped account balance garden harbour".split(" ");
const page = (n) =>
  Array.from(
    { length: 60 },
    (_, at) => `page ${n}: the ${WORDS[(at * 7 + n) % 16]} of the ${WORDS[(at * 5 + n * 3) % 16]} waits for a ${WORDS[(at * n) % 16]}`,
  ).join("\n");

/**
 * A model whose calls cost 1.3 times what is estimated, in a loop whose results fill the budget more than once: `next` takes the texts
 * that it is sent and says what it wants and what the call cost.
 */
export function costly(countTokens) {
  const costs = [];
  return {
    costs,
    page,
    next: (texts) => {
      const cost = Math.round(1.3 * texts.reduce((sum, text) => sum + countTokens(text), 0));
      costs.push(cost);
      const at = costs.length;
      return { cost, ...(at <= PAGES ? { call: { id: `r${at}`, name: READ.name, input: { page: at } } } : { text: "done" }) };
    },
  };
}

/** Calls of a model that a log remembers. */
const REMEMBERED = 16;

/** Whether the budget holds by what calls cost, once ten were told of, and by the estimate where that is asked for. */
export function holdsTheCost({ costs, steps, calibrate, model }) {
  assert.equal(costs.length, PAGES + 1);
  const late = costs.slice(10);
  const { stats } = steps.at(-1).built.pack;
  // A prompt grows until the next one would not fit.
  assert.ok(
    steps.slice(10).some(({ built }) => built.step.cut === "full"),
    steps.map(({ built }) => built.step.cut).join(),
  );
  const most = Math.max(...late);
  if (!calibrate) {
    assert.ok(most > BUDGET, `${costs}`);
    assert.equal(stats.calibration, undefined);
    for (const { built, tool_tokens } of steps.slice(-3)) assert.ok(built.pack.stats.budget_tokens >= BUDGET - tool_tokens - 8);
    return;
  }
  assert.ok(most <= BUDGET && most > 0.75 * BUDGET, `${costs}`);
  assert.deepEqual([stats.calibration.model, stats.calibration.observations], [model, REMEMBERED]);
  for (const { built, tool_tokens } of steps.slice(-3)) assert.ok((built.tokens + tool_tokens) * built.pack.stats.calibration.factor <= BUDGET + 2);
}

/** What is true of the log once the session is over: nothing was said twice, and nothing is lost. */
export function holdsTheSession(manager, executed) {
  assert.equal(executed.filter((name) => name === "export_orders").length, 1);
  assert.equal(JSON.parse(Buffer.from(manager.artifacts.bytes(`artifact:result:${LARGE}`)).toString()).length, 900);
  assert.equal(manager.events.count({ kinds: ["tool_call"] }), CALLS);
  assert.equal(manager.events.count({ kinds: ["tool_result"] }), CALLS);
}

/**
 * A session whose export leaves memory before the model reads on in it, and a storage that has it: `manager` and `on_step` are for the
 * adapter, `next` takes the texts that the model is sent and says what it wants.
 */
export function evicted({ ContextManager }) {
  const handle = `artifact:result:${LARGE}`;
  const stored = new Map();
  const fetched = [];
  const limits = { max_artifact_bytes: 2 ** 18, max_store_bytes: 2 ** 18, eviction: "lru" };
  const manager = new ContextManager({ limits, get_blob: async (hash) => (fetched.push(hash), stored.get(hash)) });
  let steps = 0;
  return {
    manager,
    handle,
    read: () => JSON.stringify(orders()),
    on_step: () => {
      for (const { hash, bytes } of manager.exportSince().blobs) stored.set(hash, bytes);
      if (manager.stats().artifacts > 0) manager.artifacts.put({ handle: "other", content: "x".repeat(2 ** 18) });
    },
    next: (texts) => {
      steps += 1;
      const text = texts.join("\n");
      if (steps === 1) return { call: { id: LARGE, name: READ.name, input: { page: 1 } } };
      if (steps > 2) return { text: text.includes(ANSWER) ? ANSWER : text.slice(-500) };
      assert.ok(!text.includes(ANSWER) && !manager.artifacts.exists(handle), "it is in memory");
      return { call: { id: "last", name: "drilldown", input: { handle, selector: FIND_ROW } } };
    },
    holds: (answer) => {
      assert.equal(answer, ANSWER);
      assert.deepEqual([steps, fetched.length], [3, 1]);
    },
  };
}

/** Calls of a run of large results. */
export const RUN_STEPS = 40;
/** Budgets of it: one that is full again and again, and one that everything fits for long. */
export const RUN_BUDGETS = [16_000, 100_000];
export const TASK = "Find out where the ledger rounds twice, and write it down. Read every part.";
export const RUN_INSTRUCTIONS = "You mend a ledger. Read before you write.";
export const DONE = "It rounds twice in settle_31_7.";
/** Its tools, of which one is called. */
export const RUN_TOOLS = [
  { name: "read_part", description: "Read a part of the project", schema: object({ part: { type: "integer" } }) },
  { name: "list_parts", description: "List the parts of the project", schema: object({ below: { type: "string" } }) },
  { name: "write_note", description: "Write a note of what was found", schema: object({ text: { type: "string" } }) },
];
/** Lines of the results, which are of 1,000 to 6,000 tokens. */
const LINES = [38, 300, 85, 45, 195, 110];
const pick = (list, n) => list[n % list.length];
const LINE_OF = [
  (n, at) =>
    `export const settle_${n}_${at} = (${pick(WORDS, at)}: Money) => round(${pick(WORDS, at)}, ${(at * 31 + n) % 97}) + fee_${(at * 7 + n) % 53}; // ${pick(WORDS, n * 3 + at * 5)}`,
  (n, at) =>
    `12:${String(at % 60).padStart(2, "0")} entry ${n * 1000 + at} of the ${pick(WORDS, n + at)} ${pick(WORDS, at * 11 + 3)} is booked by ${pick(WORDS, at * 13 + n)} at ${(at * 7919 + n) % 10007}`,
  (n, at) =>
    JSON.stringify({
      part: n,
      line: at,
      account: `A-${(at * 7919 + n) % 10007}`,
      state: pick(WORDS, at * 3 + n),
      note: `${pick(WORDS, at + n)} before ${pick(WORDS, at * 5)}`,
    }),
];

/** What a part says: a program, a log, or rows. */
export function partOf(n) {
  const lines = Array.from({ length: pick(LINES, n) }, (_, at) => pick(LINE_OF, n)(n, at));
  return n % 3 === 2 ? `[${lines.join(", ")}]` : lines.join("\n");
}

/** A model that reads a part in each step, says what it has seen, and at times names what it read long before. */
export function longRun() {
  let step = 0;
  return () => {
    const at = step++;
    if (at === RUN_STEPS - 1) return { text: DONE };
    const said = at % 8 === 7 ? `settle_${3 * Math.floor(at / 6)}_9 rounded before it added the fee. Is part ${at} like it?` : `Now part ${at}.`;
    return { text: said, calls: [{ id: `p${at}`, name: RUN_TOOLS[0].name, input: { part: at } }] };
  };
}

/**
 * Whether the requests of a run are what running prompts promise. `requests` are those that were sent, as `head`, which is all that
 * stands beside the messages, and `messages`; `bare` are those of the same loop without contextweaver. `manager` is the log of the run.
 */
export function holdsTheRun({ budget, requests, bare, steps, costs, countTokens, manager }) {
  assert.deepEqual([requests.length, bare.length, steps.length], [RUN_STEPS, RUN_STEPS, RUN_STEPS]);
  assert.deepEqual(
    steps.flatMap(({ warnings }) => warnings),
    [],
  );
  const texts = requests.map(({ messages }) => textsOf(messages));
  const cuts = steps.flatMap(({ built: { step } }, at) => (at > 0 && step.cut !== undefined ? [at] : []));
  const full = cuts[0] ?? RUN_STEPS;
  for (const [at, { head, messages }] of requests.entries()) {
    const { built, tool_tokens } = steps[at];
    const { cut } = built.step;
    assert.ok(built.tokens + tool_tokens <= budget, `step ${at}: ${built.tokens} and ${tool_tokens} tokens`);
    const { head: headBefore, messages: before } = requests[at - 1] ?? {};
    if (at === 0) assert.equal(cut, "first");
    else if (cut === undefined) {
      // Nothing that was sent is touched again.
      assert.equal(JSON.stringify(head), JSON.stringify(headBefore), `step ${at}: another head`);
      const [sent, now] = [JSON.stringify(before), JSON.stringify(messages)];
      assert.ok(now.startsWith(`${sent.slice(0, -1)},`), `step ${at} rewrites what was sent:\n${difference(sent, now)}`);
    } else {
      assert.ok(["full", "pays", "cold"].includes(cut), `step ${at}: ${cut}`);
      if (cut === "cold") assert.notEqual(JSON.stringify(head), JSON.stringify(headBefore), `step ${at} is cold without a reason`);
    }
    // As long as everything fits, it is what the framework would have sent.
    if (at < full) assert.deepEqual(texts[at], textsOf(bare[at].messages), `step ${at}`);
    if (at > 0) assertWhole(texts[at], at - 1, (budget - tool_tokens) / 2, countTokens);
  }
  // What is said of reading on is true: the part is there.
  const told = new Map(texts.flat().flatMap((text) => [...text.matchAll(/drilldown (artifact:\S+) (\{.*?\})\)/g)].map((note) => [note[0], note])));
  assert.ok(told.size > 0);
  for (const [, handle, selector] of told.values()) {
    const [, n] = /^artifact:result:p(\d+)$/.exec(handle) ?? assert.fail(handle);
    const chosen = JSON.parse(selector);
    const { text } = manager.drilldown(handle, chosen, { max_tokens: budget });
    assert.ok(text !== "" && (chosen.type !== "lines" || partOf(Number(n)).includes(text)), `${handle} ${selector}: ${text.slice(0, 300)}`);
  }
  assert.ok(budget === RUN_BUDGETS[0] ? cuts.length >= 3 : full >= 15 && cuts.length > 0, `cuts at ${cuts}`);
  const { cost, cost_without, cuts: counted } = costs;
  assert.ok(cost <= 1.02 * cost_without, `${cost} in place of ${cost_without}`);
  assert.equal(counted, cuts.length);
  const largest = requests.reduce((most, one) => (JSON.stringify(one).length > JSON.stringify(most).length ? one : most));
  withinBudget(textsOf([largest.messages, largest.head]), countTokens, budget);
}

/** The newest result stands whole, as long as it leaves half of the room for others. */
function assertWhole(texts, n, most, countTokens) {
  const part = partOf(n);
  if (countTokens(part) <= most) assert.ok(texts.includes(part), `part ${n} is not whole in the request behind it:\n${texts.at(-1).slice(0, 500)}`);
}

/** Where two texts part. */
function difference(one, other) {
  const at = [...one].findIndex((letter, n) => letter !== other[n]);
  return [one, other].map((text) => text.slice(Math.max(0, at - 100), at + 200)).join("\n");
}
