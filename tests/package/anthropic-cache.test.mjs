// The marks that the adapter for Anthropic's SDK sets, before a cache that works as the provider's documentation says.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { AnthropicCache, withoutMarks } from "./anthropic-cache.mjs";
import { long, project } from "./harness.mjs";
import { PROVIDER_RULES } from "./provider-rules.mjs";
import { random } from "./random-logs.mjs";

const folder = await project("anthropic-cache", {
  "entry.mjs": `export * from "contextweaver/anthropic"; export { ContextWeaverError } from "contextweaver";`,
});
const { contextWeaver } = await import(pathToFileURL(join(folder, "entry.mjs")));

const MODEL = { model: "claude-sonnet-4-5", max_tokens: 1_024 };
const MARK = { type: "ephemeral" };
const TOOLS = ["look_up", "book", "cancel"].map((name) => ({
  name,
  description: `Can ${name}`,
  input_schema: { type: "object", properties: { at: { type: "integer" } } },
}));
const text = (value, more) => ({ type: "text", text: value, ...more });
const use = (id, name = "look_up") => ({ type: "tool_use", id, name, input: { at: 1 } });
const result = (id, content = `row of ${id}`) => ({ type: "tool_result", tool_use_id: id, content });
const marksOf = (body) => JSON.stringify(body).split(`"cache_control":`).length - 1;

/** A conversation in which a tool was called already, so that all tools for results are there. */
const begun = () => [
  { role: "user", content: [text("Plan it.")] },
  { role: "assistant", content: [use("first")] },
  { role: "user", content: [result("first")] },
];

/** A conversation of an agent whose steps are of many sizes. */
class Talk {
  messages = [];
  #next;
  #ids = 0;

  constructor(next) {
    this.#next = next;
    this.ask("Plan the journey of all the guests.");
  }

  ask(words) {
    const last = this.messages.at(-1);
    // Two messages of the user in a row are one to the provider.
    if (last?.role === "user") this.messages[this.messages.length - 1] = { role: "user", content: [...last.content, text(words)] };
    else this.messages.push({ role: "user", content: [text(words)] });
  }

  /** The model answers: by calls, many of them at times, or by words, whereupon the user asks on. */
  answer({ thinks, most }) {
    const next = this.#next;
    const thought = thinks ? [{ type: "thinking", thinking: `how about ${next(1_000)}`, signature: "c2lnbmVk" }] : [];
    if (next(6) === 0) {
      this.messages.push({ role: "assistant", content: [...thought, text(`It is done: ${next(1_000)}.`)] });
      return this.ask(`And what of guest ${next(1_000)}?`);
    }
    const ids = Array.from({ length: 1 + next(next(3) === 0 ? most : 3) }, () => `call_${(this.#ids += 1)}`);
    const said = next(2) === 0 ? [text(`I look at ${ids.length}.`)] : [];
    this.messages.push({ role: "assistant", content: [...thought, ...said, ...ids.map((id) => use(id, TOOLS[next(3)].name))] });
    this.messages.push({ role: "user", content: ids.map((id) => result(id, `${id}: ${"seat window late ".repeat(next(12))}${next(1_000)}`)) });
  }
}

/** The conversation with marks of the caller, at most two, as somebody sets them who moves them on. */
function marked(messages, system, where) {
  const atEnd = (list, at) =>
    list.map((one, index) =>
      index === at ? { ...one, content: one.content.map((block, n) => (n === one.content.length - 1 ? { ...block, cache_control: MARK } : block)) } : one,
    );
  return {
    system: [text(system, where.includes("system") ? { cache_control: MARK } : {})],
    messages: where.includes("end") ? atEnd(messages, messages.length - 1) : where.includes("first") ? atEnd(messages, 0) : messages,
    ...(where.includes("automatic") && { cache_control: MARK }),
  };
}

/** Plays a loop, and holds in each call what marks are for. Returns how many calls could read what the one before had written. */
function play(seed) {
  const { below: next, pick } = random(seed);
  const budget_tokens = pick([6_000, 12_000, 200_000]);
  const caches = [false, true].map((asRuns) => new AnthropicCache({ asRuns, least: pick([0, 0, 4_096]) }));
  const cw = contextWeaver({ tools: TOOLS, budget_tokens });
  const plain = contextWeaver({ tools: TOOLS, budget_tokens, cache: false });
  const how = { thinks: next(2) === 0, most: pick([4, 30, 60]) };
  const thinking = how.thinks && { thinking: { type: "enabled", budget_tokens: 1_024 } };
  const where = pick([[], [], ["system"], ["end"], ["system", "end"], ["first"], ["automatic"], ["automatic", "system"]]);
  const talk = new Talk(next);
  let chains = 0;
  let before;
  for (let step = 0; step < 18; step += 1) {
    // What a model was never asked: it was stopped before, once or more often, and the user may say something else.
    for (let aborted = next(4); aborted > 1; aborted -= 1) {
      for (const one of [cw, plain]) one.fit({ ...MODEL, ...thinking, ...marked(talk.messages, "Be brief.", where) });
      if (next(2) === 0) talk.ask(`No, rather ${next(1_000)}.`);
    }
    // What was said is edited at times.
    if (next(12) === 0) talk.messages[0] = { role: "user", content: [text(`Plan the journey of guest ${next(100)}.`)] };
    const choice = next(10) === 0 && { tool_choice: { type: "any" } };
    const params = { ...MODEL, ...(choice || thinking), ...choice, ...marked(talk.messages, "Be brief.", where) };
    const body = cw.fit(params);
    const bare = plain.fit({ ...params, ...marked(talk.messages, "Be brief.", []), cache_control: undefined });
    const at = `seed ${seed}, step ${step}`;
    assert.equal(PROVIDER_RULES.anthropic(body), undefined, at);
    assert.ok(marksOf(body) <= 4, `${at}: ${marksOf(body)} marks`);
    assert.equal(marksOf(bare), 0, at);
    assert.deepEqual(withoutMarks(body), withoutMarks(bare), at);
    for (const [n, cache] of caches.entries()) {
      const wrote = before?.[n];
      const { read, readable, written, blocks } = cache.send(body);
      const isKept = wrote !== undefined && readable >= wrote;
      if (isKept) chains += 1;
      if (isKept) assert.ok(read >= wrote, `${at}: reads ${read} blocks of ${blocks}, the call before wrote ${wrote}`);
      before = Object.assign([...(before ?? [])], { [n]: Math.max(0, ...written.map((place) => place + 1)) || undefined });
    }
    talk.answer(how);
  }
  cw.free();
  plain.free();
  return chains;
}

test("Anthropic's cache: each call reads all that the call before has written, whatever a loop does", () => {
  let chains = 0;
  const count = long ? 1_000 : 60;
  for (let seed = 1; seed <= count; seed += 1) chains += play(seed);
  // Of the calls, in either reading of the documentation, this many had something to read.
  assert.ok(chains > count * 2 * 6, `${chains} of ${count} loops`);
});

test("Anthropic's cache: a step of 30 calls moves the end by 60 blocks", () => {
  const cw = contextWeaver({ tools: TOOLS, budget_tokens: 200_000 });
  const cache = new AnthropicCache();
  const messages = begun();
  let blocks;
  for (let step = 0; step < 6; step += 1) {
    const sent = cache.send(cw.fit({ ...MODEL, system: "Be brief.", messages }));
    if (blocks !== undefined) assert.ok(sent.read >= blocks, `step ${step}: ${sent.read} of ${sent.blocks}`);
    blocks = sent.blocks;
    const ids = Array.from({ length: 30 }, (_, n) => `c${step}_${n}`);
    messages.push({ role: "assistant", content: ids.map((id) => use(id)) }, { role: "user", content: ids.map((id) => result(id)) });
  }
  cw.free();
});

test("Anthropic's cache: three marks of the caller leave one, which goes where the look back does not reach", () => {
  for (let added = 15; added <= 25; added += 1) {
    const cw = contextWeaver({ tools: [{ ...TOOLS[0], cache_control: MARK }], budget_tokens: 200_000 });
    const cache = new AnthropicCache();
    const [first, ...rest] = begun();
    const messages = [{ ...first, content: [text("Plan it.", { cache_control: MARK })] }, ...rest];
    const send = () =>
      cache.send(
        cw.fit({
          ...MODEL,
          system: "Be brief.",
          messages: [
            ...messages.slice(0, -1),
            { role: "user", content: messages.at(-1).content.map((block, at, { length }) => (at === length - 1 ? { ...block, cache_control: MARK } : block)) },
          ],
        }),
      );
    const { blocks } = send();
    messages.push(
      { role: "assistant", content: [use("one")] },
      { role: "user", content: [result("one"), ...Array.from({ length: added - 2 }, (_, n) => text(`note ${n}`))] },
    );
    const sent = send();
    assert.deepEqual([sent.blocks, sent.read], [blocks + added, blocks]);
    cw.free();
  }
});

test("Anthropic's cache: a call whose answer was thrown away has written, too", () => {
  const cw = contextWeaver({ tools: TOOLS, budget_tokens: 200_000 });
  const cache = new AnthropicCache();
  const messages = begun();
  const send = () => cache.send(cw.fit({ ...MODEL, system: "Be brief.", messages }));
  send();
  messages.push({ role: "assistant", content: [text("It is planned.")] }, { role: "user", content: [text("And the guests?")] });
  const { blocks } = send();
  messages[messages.length - 1] = { role: "user", content: [text("And the guests?"), ...Array.from({ length: 30 }, (_, n) => text(`guest ${n}`))] };
  assert.equal(send().read, blocks);
  cw.free();
});

test("Anthropic's cache: of more marks than a call takes the most useful stay", () => {
  const steps = [];
  const cw = contextWeaver({ tools: [{ ...TOOLS[0], cache_control: MARK }], budget_tokens: 200_000, on_step: (step) => steps.push(step) });
  const system = [text("Be brief.", { cache_control: MARK })];
  const said = (n, more) => [
    { role: "user", content: [text(`question ${n}`, more)] },
    { role: "assistant", content: [text(`answer ${n}`)] },
  ];
  const messages = [...said(1, { cache_control: MARK }), ...said(2, { cache_control: MARK }), ...said(3, { cache_control: MARK }).slice(0, 1)];
  const body = cw.fit({ ...MODEL, system, messages });
  assert.equal(marksOf(body), 4);
  const places = withoutMarks(body).prompt.length;
  assert.equal(places, 7);
  assert.deepEqual([body.tools[0].cache_control, body.system[0].cache_control], [undefined, MARK]);
  assert.deepEqual(
    steps[0].warnings.map(({ code, path }) => [code, path]),
    [["CACHE_CONTROL_LEFT_OUT", "/tools/look_up"]],
  );
  // With the provider's own mark at the end there is room for three, and they are never sent as five.
  const automatic = cw.fit({ ...MODEL, system, messages, cache_control: MARK });
  assert.equal(marksOf(automatic), 4);
  assert.equal(steps[1].warnings.length, 2);
  cw.free();
  const off = contextWeaver({ tools: [], budget_tokens: 200_000, cache: false });
  assert.equal(marksOf(off.fit({ ...MODEL, system, messages })), 4);
  assert.equal(marksOf(off.fit({ ...MODEL, system, messages: [...messages.slice(0, 4), ...said(4, { cache_control: MARK }), ...messages.slice(4)] })), 4);
  off.free();
});

test("Anthropic's cache: what a call with another model or a forced tool has written is no other call's", () => {
  const cw = contextWeaver({ tools: TOOLS, budget_tokens: 200_000 });
  const cache = new AnthropicCache();
  const ids = Array.from({ length: 30 }, (_, n) => `c${n}`);
  const messages = begun();
  const send = (more) => cache.send(cw.fit({ ...MODEL, system: "Be brief.", messages, ...more }));
  const first = send();
  messages.push({ role: "assistant", content: ids.map((id) => use(id)) }, { role: "user", content: ids.map((id) => result(id)) });
  // The head is what a forced call shares with the one before.
  assert.equal(send({ tool_choice: { type: "tool", name: "book" } }).read, first.blocks - 3);
  messages.push({ role: "assistant", content: [use("forced", "book")] }, { role: "user", content: [result("forced")] });
  assert.equal(send().read, first.blocks);
  assert.equal(send({ model: "claude-haiku-4-5" }).read, 0);
  // The other model's call takes nothing away from this one.
  assert.equal(send().read, send().blocks);
  cw.free();
});
