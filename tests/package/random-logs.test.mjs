// Promises over random sessions, formats and budgets, on the package, by somebody else's count and rules.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { long, packageDir } from "./harness.mjs";
import { PROVIDER_RULES, toolParts } from "./provider-rules.mjs";
import { FORMATS, messagesOf, PICTURE, random, session } from "./random-logs.mjs";

// Before the package, whose instances it watches.
const { TRAPS } = await import("./instances.mjs");
const dist = (name) => import(pathToFileURL(join(packageDir, "dist", name)));
const { ContextManager, ContextWeaverError, countTokens, messagesToItems } = await dist("index.js");
const { context: engine } = await dist("boundary/engines.js");

const LOGS = long ? 100_000 : 1_000;
/** Of these, how many are read in every way: five managers each. */
const READ_IN_ALL_WAYS = LOGS / (long ? 5 : 20);
/** Of these, how many are the session of a loop. */
const IN_LOOPS = LOGS / (long ? 5 : 10);
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
/** Formats in which a message of the user takes what comes next, where that is the user's, too. */
const MERGING = ["anthropic", "gemini", "ai-sdk-ui"];

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
  const running = draw.chance(0.5);
  const sent = built(() => manager.buildMessages({ phase: "answer", query, budget_tokens, format: to, running }), budget_tokens);
  if (sent) {
    const { pack } = sent;
    assert.ok(sent.tokens <= budget_tokens, `${sent.tokens} of ${budget_tokens} tokens`);
    const counted = tokensSent(sent, count);
    assert.ok(counted <= sent.tokens, `${counted} tokens are sent, ${sent.tokens} were counted`);
    // The numbers of a running prompt are sums: an estimator of a caller may round each part down.
    const rounded = running && estimator ? 2 * pack.items.length + 8 : 0;
    assert.ok(Math.abs(pack.stats.prompt_tokens - count(pack.prompt)) <= rounded, `${pack.stats.prompt_tokens} for ${count(pack.prompt)} tokens`);
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
    // Standing instructions are named by their items, whose ids differ.
    const manager = new ContextManager({ rules: false });
    ingest(manager, steps, format);
    const prompt = built(() => manager.build({ phase: "answer", query: "order 12446", budget_tokens }), budget_tokens)?.prompt;
    manager.free();
    return [way, prompt];
  });
  for (const [way, prompt] of prompts.slice(1)) assert.equal(prompt, prompts[0][1], way);
}

/** Whether a list begins with another one, byte for byte; the last message of that one may have gained parts where formats put them together. */
function goesOn(before, after, format) {
  const last = before.length - 1;
  assert.equal(JSON.stringify(after.slice(0, last)), JSON.stringify(before.slice(0, last)));
  const [stood, stands] = [before[last], after[last]];
  if (!MERGING.includes(format)) return assert.equal(JSON.stringify(stands), JSON.stringify(stood));
  const partsOf = ({ content, parts = content }) => (typeof parts === "string" ? [{ type: "text", text: parts }] : parts);
  const [gained, had] = [partsOf(stands), partsOf(stood)];
  assert.equal(JSON.stringify(gained.slice(0, had.length)), JSON.stringify(had));
  const frame = ({ content, parts, ...rest }) => JSON.stringify(rest);
  assert.equal(frame(stands), frame(stood));
}

/** Breaks whatever an object has; a list keeps its length, by which it is known what somebody has. */
function spoil(value) {
  if (typeof value !== "object" || value === null) return;
  for (const key of Object.keys(value)) {
    spoil(value[key]);
    value[key] = "spoilt";
  }
}

/** A manager that goes on where another one is. */
const COPIES = {
  "its snapshot": (manager) => ContextManager.fromJSON(JSON.stringify(manager)),
  "its journal": (manager) => {
    const { changes, blobs } = manager.exportSince();
    return ContextManager.restore(changes, { blobs: new Map(blobs.map(({ hash, bytes }) => [hash, bytes])) });
  },
};

/** What happened in the loops, so that none of it is held by nothing. */
const seen = { steps: 0, cuts: {}, merged: 0 };

function growsByAppending(seed) {
  const draw = random(seed);
  const [steps, more] = [session(draw), session(draw)];
  // Ids are those of one conversation.
  const renamed = more.map((step) => ({
    ...step,
    text: step.text.replaceAll("#", "##"),
    ...(step.calls && { calls: step.calls.map((one) => ({ ...one, id: `${one.id}_b` })) }),
  }));
  const all = [...steps, ...renamed];
  const [from, to] = [draw.pick(FORMATS), draw.pick(FORMATS)];
  const budget_tokens = draw.pick([400, 1_000, 4_000, 16_000]);
  const manager = new ContextManager();
  let copy;
  let before;
  for (let end = 1; end <= all.length; end += 1 + draw.below(2)) {
    const conversation = messagesOf(all.slice(0, end), from);
    const query = draw.pick(["", "refund of order 12446"]);
    if (draw.chance(0.15)) {
      copy?.free();
      copy = draw.pick(Object.values(COPIES))(manager);
    }
    if (draw.chance(0.02)) assert.throws(() => engine.call(TRAPS["a wild pointer"]), { code: "INTERNAL" });
    const next = (one) => {
      one.syncMessages(conversation, from);
      return built(() => one.buildMessages({ phase: "answer", query, budget_tokens, format: to }), budget_tokens);
    };
    const sent = next(manager);
    const same = copy && next(copy);
    // What is warned of is told once, and once more by whoever was restored.
    const told = (one) => JSON.stringify(one && { ...one, pack: undefined, warnings: undefined });
    if (copy) assert.equal(told(same), told(sent), "a copy goes on in another way");
    if (!sent) {
      // What does not fit is no step.
      continue;
    }
    seen.steps += 1;
    const { messages, system, step, tokens } = sent;
    assert.ok(tokens <= budget_tokens, `${tokens} of ${budget_tokens} tokens`);
    assert.equal(PROVIDER_RULES[to](sent), undefined);
    if (step.cut === undefined) {
      goesOn(before.messages, messages, to);
      assert.equal(JSON.stringify(system), JSON.stringify(before.system));
      assert.equal(step.repeated_tokens, before.tokens);
      if (JSON.stringify(messages[before.messages.length - 1]) !== JSON.stringify(before.messages.at(-1))) seen.merged += 1;
    } else {
      seen.cuts[step.cut] = (seen.cuts[step.cut] ?? 0) + 1;
      assert.equal(step.repeated_tokens, 0);
      assert.equal(step.cut === "first", before === undefined);
    }
    before = structuredClone({ messages, system, tokens: step.tokens });
    // What was handed out is the caller's.
    spoil(messages);
    if (system !== undefined && typeof system === "object") spoil(system);
    // The same step again is the same bytes.
    if (draw.chance(0.1)) {
      const again = next(manager);
      assert.equal(again.step.cut, undefined);
      assert.equal(JSON.stringify([again.messages, again.system]), JSON.stringify([before.messages, before.system]), "a retry sends something else");
      if (copy) next(copy);
      before.tokens = again.step.tokens;
    }
  }
  copy?.free();
  manager.free();
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
test(`each prompt of ${IN_LOOPS} loops is the one before and what is new, also after restarts and restores`, () => {
  forAll(growsByAppending, IN_LOOPS);
  const { steps, cuts, merged } = seen;
  const cut = Object.values(cuts).reduce((sum, count) => sum + count, 0);
  assert.ok(merged > 0 && cuts.full > 0 && cuts.first > 0 && steps > 2 * cut, JSON.stringify(seen));
});
