// Promises over random sessions, formats and budgets, on the package, by somebody else's count and rules.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { long, packageDir } from "./harness.mjs";
import { PROVIDER_RULES, toolParts } from "./provider-rules.mjs";
import { FORMATS, messagesOf, PICTURE, random, session } from "./random-logs.mjs";

const { ContextManager, ContextWeaverError, countTokens, messagesToItems } = await import(pathToFileURL(join(packageDir, "dist", "index.js")));

const LOGS = long ? 100_000 : 5_000;
/** Of these, how many are read in every way: five managers each. */
const READ_IN_ALL_WAYS = LOGS / (long ? 5 : 20);
const BUDGETS = [80, 400, 1_000, 4_000, 16_000];
/** Tokens of the frame around a message, a call and a result, as the types of `BuiltMessages` say. */
const FRAME = 4;
/** An estimator of a caller: neither additive nor close to characters. */
const words = (text) => (text.match(/\S+/g)?.length ?? 0) + Math.floor(text.length / 5);
const counts = new Map();
/** Names, roles and ids come again and again. */
function tokens(text) {
  if (text.length > 64) return countTokens(text);
  if (!counts.has(text)) counts.set(text, countTokens(text));
  return counts.get(text);
}
const ESTIMATORS = [{ count: tokens }, { option: words, count: words }];

/** Tokens of every text that is sent, and of frames; pictures are free here. */
function tokensSent({ messages, system }, count) {
  let sum = 0;
  const walk = (value) => {
    if (typeof value === "string") sum += value.endsWith(PICTURE) ? 0 : count(value);
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(walk);
  };
  walk(messages);
  walk(system);
  return sum + FRAME * (messages.length + (system === undefined ? 0 : 1) + toolParts({ messages }));
}

/** What is built, or nothing where the budget is too small for what must be sent. */
function built(build, budget) {
  try {
    return build();
  } catch (error) {
    assert.ok(ContextWeaverError.is(error), String(error));
    assert.equal(error.code, "BUDGET_EXCEEDED", String(error));
    assert.ok(error.details.over_by > 0 && budget < 16_000, String(error));
    return undefined;
  }
}

function holds(seed) {
  const draw = random(seed);
  const steps = session(draw);
  const [from, to] = [draw.pick(FORMATS), draw.pick(FORMATS)];
  const budget_tokens = draw.pick(BUDGETS);
  const { option: estimator, count } = ESTIMATORS[draw.chance(0.05) ? 1 : 0];
  const options = { ...(estimator && { estimator }), active_turn: draw.pick(["trim", "keep"]) };
  const manager = new ContextManager(options);
  const all = messagesOf(steps, from);
  // The conversation grows by a step at a time, and is handed over whole, sometimes twice.
  for (let end = 1; end <= steps.length; end += 1 + draw.below(3)) manager.syncMessages(messagesOf(steps.slice(0, end), from), from);
  manager.syncMessages(all, from);
  const again = manager.syncMessages(structuredClone(all), from);
  assert.deepEqual([again.added, again.superseded, again.unchanged], [[], [], all.length]);
  const query = draw.pick(["", "refund of order 12446"]);
  const sent = built(() => manager.buildMessages({ phase: "answer", query, budget_tokens, format: to }), budget_tokens);
  if (sent) {
    const { pack } = sent;
    assert.ok(sent.tokens <= budget_tokens, `${sent.tokens} of ${budget_tokens} tokens`);
    const counted = tokensSent(sent, count);
    assert.ok(counted <= sent.tokens, `${counted} tokens are sent, ${sent.tokens} were counted`);
    assert.equal(pack.stats.prompt_tokens, count(pack.prompt));
    assert.equal(PROVIDER_RULES[to](sent), undefined);
    const ids = pack.items.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    const text = JSON.stringify(sent.messages);
    for (const [mark] of JSON.stringify(all).matchAll(/#\d+# /g)) assert.ok(text.split(mark).length <= 2, `${mark} is sent twice`);
  }
  manager.free();
}

/** Ingests what was said and called, and hands the results over for another way. */
function apart(manager, steps, format, ingestResult) {
  const calls = new Map(steps.flatMap(({ calls: made = [] }) => made).map(({ id, name }) => [id, name]));
  for (const item of messagesToItems(messagesOf(steps, format), format).items) {
    const { tool_call_id } = item.metadata;
    if (item.kind === "tool_result") ingestResult({ tool_call_id, tool_name: calls.get(tool_call_id) }, item.text);
    else manager.ingest(item);
  }
}

/** Every way into a log, each its own manager. */
const WAYS = {
  "the conversation again and again": (manager, steps, format) => {
    for (let end = 1; end <= steps.length; end += 1) manager.syncMessages(messagesOf(steps.slice(0, end), format), format);
  },
  messages: (manager, steps, format) => manager.ingestMessages(messagesOf(steps, format), format),
  items: (manager, steps, format) => manager.ingestAll(messagesToItems(messagesOf(steps, format), format).items),
  results: (manager, steps, format) => {
    apart(manager, steps, format, (call, text) => manager.ingestToolResult({ ...call, raw_output: text }));
  },
  "results of MCP": (manager, steps, format) => {
    apart(manager, steps, format, (call, text) => manager.ingestMcpResult({ ...call, result: { content: [{ type: "text", text }] } }));
  },
};

function waysAgree(seed) {
  const draw = random(seed);
  const steps = session(draw, { plain: true });
  const format = draw.pick(FORMATS);
  const budget_tokens = draw.pick(BUDGETS);
  const prompts = Object.entries(WAYS).map(([way, ingest]) => {
    const manager = new ContextManager();
    ingest(manager, steps, format);
    const prompt = built(() => manager.build({ phase: "answer", query: "order 12446", budget_tokens }), budget_tokens)?.prompt;
    manager.free();
    return [way, prompt];
  });
  for (const [way, prompt] of prompts.slice(1)) assert.equal(prompt, prompts[0][1], way);
}

/** Runs a property for every seed and names the first that fails. */
function forAll(property, count) {
  for (let seed = 1; seed <= count; seed += 1) {
    try {
      property(seed);
    } catch (error) {
      error.message = `log ${seed}: ${error.message}`;
      throw error;
    }
  }
}

test(`what is sent of ${LOGS} logs is within the budget, paired and sent once`, () => forAll(holds, LOGS));
test(`five ways in give one prompt for ${READ_IN_ALL_WAYS} logs`, () => forAll(waysAgree, READ_IN_ALL_WAYS));
