// The tab of prompts: every control, on the recorded session and on transcripts of every format.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { packageDir, root } from "./harness.mjs";
import { addressed, choose, drop, inFirefox, onePrompt, prepare, shows, unfold, until } from "./page.mjs";

const PHASES = { route: 2000, call: 3000, interpret: 4000, answer: 6000 };
const CHAT = [
  { role: "user", content: "Where is order 7?" },
  { role: "assistant", content: null, tool_calls: [{ id: "c1", type: "function", function: { name: "find", arguments: '{"order":7}' } }] },
  { role: "tool", tool_call_id: "c1", content: "order 7 is at the branch in Graz" },
  { role: "assistant", content: "It is in Graz." },
]
  .map((message) => JSON.stringify(message))
  .join("\n");
const GOOD = '{"id": "a", "kind": "user_turn", "text": "x"}';

const session = await readFile(join(root, "examples", "sessions", "shop.jsonl"), "utf8");
const cw = await import(pathToFileURL(join(packageDir, "dist", "index.js")).href);
const log = session
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

test("Page: context", async (t) => {
  const { open } = (await prepare(t)) ?? {};
  if (!open) return;

  await t.test("compiles the sample for all four phases, as a manager with default options does", async (t) => {
    const tab = await onePrompt(open, t);
    const { queries } = JSON.parse(await readFile(join(root, "examples", "sessions", "shop.meta.json"), "utf8"));
    const manager = new cw.ContextManager();
    manager.ingestAll(log);
    for (const [phase, budget] of Object.entries(PHASES)) {
      const { stats, prompt } = manager.build({ phase, query: queries[phase].query, budget_tokens: budget });
      await tab.selectOption("#phase", phase);
      const numbers = `${stats.prompt_tokens.toLocaleString("en")} of ${budget.toLocaleString("en")} tokens, ${stats.included_count} of 139 items`;
      await shows(tab, `#numbers-${phase}`, new RegExp(`^${numbers}$`));
      const label = await tab.locator(`#card-${phase} .budget-bar`).getAttribute("aria-label");
      assert.match(label, /^Budget of .* tokens: .*user turn \d+.*free/);
      assert.ok((await tab.locator(`#card-${phase} .budget-bar .segment`).count()) > 2, phase);
      await unfold(tab, "#whole-prompt");
      // What the sections say is the prompt, but for the lines between them.
      const flat = (text) => text.replace(/\s+/g, "");
      const expected = flat(prompt);
      await until(async () => String(flat((await tab.locator("#prompt pre").allTextContents()).join("")) === expected), /true/);
    }
    manager.free();
  });

  await t.test("marks every item, and says why it was left out", async (t) => {
    const tab = await onePrompt(open, t, { fragment: "#phase=interpret" });
    await until(() => tab.locator(".list").first().getAttribute("aria-rowcount"), /^140$/);
    // The list is made anew after the choice: what it showed before may still stand at first.
    const chosen = async (phase, show, wanted) => {
      await tab.selectOption("#phase", phase);
      await tab.selectOption("#show", show);
      await shows(tab, ".list-body", wanted);
    };
    await chosen("call", "summarised", /named only/);
    await chosen("interpret", "summarised", /of [\d,]+ tokens/);
    await chosen("answer", "sensitivity", /text withheld: confidential.*left out.*withheld/);
    const rows = tab.locator(".list-body .row");
    await rows.first().click();
    await shows(tab, "#item", /lets no model read that/);
    await shows(tab, "#item", /Text withheld: the item is confidential/);
    await shows(tab, "#why-answer", /none would.*Pin:.*would not help/);
    await tab.selectOption("#show", "all");
    await tab.selectOption("#kind", "policy");
    await until(async () => String(await rows.count()), /^2$/);
    await tab.selectOption("#kind", "");
    await tab.fill("#search", "pg_5d21c8");
    await until(async () => String(await rows.count()), /^[1-9]$/);
    await tab.fill("#search", "nothing is like this");
    await shows(tab, ".list-body", /No item is like that/);
    // A legend leads to its items.
    await tab.fill("#search", "");
    await tab.selectOption("#phase", "route");
    await tab.click(".legends .link:has-text('not for this phase')");
    await addressed(tab, /phase=route.*show=phase|show=phase.*phase=route/);
    await until(() => tab.locator(".list").first().getAttribute("aria-rowcount"), /^113$/);
  });

  await t.test("what comes late has its room, so that no button moves from under a click", async (t) => {
    const tab = await onePrompt(open, t);
    await shows(tab, "#why-answer", /Budget:/);
    const [answered, waiting] = await tab.evaluate(() => {
      const box = document.querySelector(".what-if");
      const other = box.cloneNode(false);
      other.append(Object.assign(document.createElement("p"), { className: "quiet small working", textContent: "Trying budgets…" }));
      box.after(other);
      const heights = [box.offsetHeight, other.offsetHeight];
      other.remove();
      return heights;
    });
    assert.ok(answered > 50 && waiting >= answered, `${waiting} of ${answered} pixels`);
  });

  await t.test("says what would have kept an item, and is right", async (t) => {
    const tab = await onePrompt(open, t, { fragment: "#phase=answer&item=16" });
    await shows(tab, "#item .item-title", /i017.*left out/);
    await shows(tab, "#item", /words it shares with the query/);
    const answer = await shows(tab, "#why-answer", /from [\d,]+ tokens on.*Pin: it would be in, for [\d,]+ tokens.*items would leave/);
    const needed = Number(/from ([\d,]+) tokens/.exec(answer)[1].replaceAll(",", ""));
    const { queries } = JSON.parse(await readFile(join(root, "examples", "sessions", "shop.meta.json"), "utf8"));
    const manager = new cw.ContextManager();
    manager.ingestAll(log);
    const isIn = (budget_tokens) => manager.build({ phase: "answer", query: queries.answer.query, budget_tokens }).items.some(({ id }) => id === "i017");
    assert.deepEqual([isIn(needed - 1), isIn(needed)], [false, true]);
    manager.free();
    await tab.click("#why-answer .link:has-text('Set answer to')");
    await shows(tab, "#item .item-title", /i017.*(kept|cut)/);
    assert.equal(await tab.inputValue("#exact-answer"), String(needed));
    await tab.fill("#exact-answer", "6000");
    await shows(tab, "#item .item-title", /i017.*left out/);
    await tab.click("#item button:has-text('Pin it')");
    // Pinned, it must be there, whole or not at all.
    await until(async () => (await tab.locator("#card-answer .failure").count()) + (await tab.textContent("#item .item-title")), /No prompt|^1|kept|cut/);
    await tab.click("#item button:has-text('Unpin')");
    await shows(tab, "#item .item-title", /left out/);
  });

  await t.test("a pin costs what must come with it, too", async (t) => {
    const { queries } = JSON.parse(await readFile(join(root, "examples", "sessions", "shop.meta.json"), "utf8"));
    const manager = new cw.ContextManager();
    manager.ingestAll(log);
    const build = (pin) => manager.build({ phase: "answer", query: queries.answer.query, budget_tokens: PHASES.answer, pin, explain: true });
    const { candidates } = build([]).explanation;
    const unitOf = (id, list) => list.filter(({ unit }) => unit === list.find(({ item_id }) => item_id === id).unit);
    const dropped = candidates.filter(({ drop_reason, item_id }) => drop_reason === "budget" && unitOf(item_id, candidates).length > 2);
    // A block of small items, and a large result that enters as an excerpt.
    for (const id of [dropped[0].item_id, "i017"]) {
      const { explanation, items } = build([id]);
      const entered = unitOf(id, explanation.candidates);
      const tokens = entered.reduce((sum, each) => sum + each.tokens, 0);
      assert.ok(entered.length > 2 && tokens > entered.find(({ item_id }) => item_id === id).tokens);
      const rendered = items.filter((item) => entered.some(({ item_id }) => item_id === item.id)).reduce((sum, item) => sum + item.tokens, 0);
      assert.ok(Math.abs(rendered - tokens) <= entered.length, `${rendered} in the prompt, ${tokens} said`);
      const tab = await onePrompt(open, t, { fragment: `#phase=answer&item=${log.findIndex((item) => item.id === id)}` });
      await shows(tab, "#item .item-title", new RegExp(`^${id}.*left out`));
      await shows(tab, "#why-answer", new RegExp(`for ${tokens.toLocaleString("en")} tokens with the ${entered.length - 1} items that must come with it`));
    }
    manager.free();
  });

  await t.test("a pin that the policy forbids says so, and leaves the prompts as they are", async (t) => {
    const tab = await onePrompt(open, t);
    const numbers = () => tab.textContent("#numbers-answer");
    const before = await numbers();
    await tab.evaluate(() => (location.hash = "#tab=context&item=56&pins=56+56"));
    await shows(tab, "#refused-pins", /Not pinned: i057 .*confidential and cannot be pinned/);
    await shows(tab, "#item .failure", /cannot be pinned/);
    assert.equal(await numbers(), before);
    assert.equal(await tab.locator("#refused-pins p").count(), 1);
    await shows(tab, "#why-answer", /would not help: .*cannot be pinned/);
    // Another pin beside it is obeyed.
    await tab.evaluate(() => (location.hash = "#tab=context&item=16&pins=56+16&b.answer=20000"));
    await shows(tab, "#item .item-title", /i017.*(?:kept|cut)/);
    await shows(tab, "#refused-pins", /i057/);
    await tab.evaluate(() => (location.hash = "#tab=context&item=56&pins=56"));
    await tab.click("#item button:has-text('Unpin')");
    await until(() => tab.textContent("#refused-pins"), /^$/);
    // Where its place is shown instead of its text, nothing is forbidden.
    await tab.evaluate(() => (location.hash = "#tab=context&item=56&pins=56&set=redact"));
    await shows(tab, "#item .item-title", /i057.*redacted/);
    await until(() => tab.textContent("#refused-pins"), /^$/);
  });

  await t.test("the prompt leads to items and back", async (t) => {
    const tab = await onePrompt(open, t, { fragment: "#phase=answer" });
    await unfold(tab, "#whole-prompt");
    await tab.locator("#prompt .section .link").nth(5).click();
    const id = await tab.locator("#prompt .section .link").nth(5).textContent();
    await until(() => tab.locator(".list-body [aria-selected=true]").textContent(), new RegExp(`^${id}`));
    await shows(tab, "#item .item-title", new RegExp(`^${id}`));
    await tab.click("button:has-text('Show in the prompt')");
    await until(() => tab.locator("#prompt .section.selected .link").textContent(), new RegExp(`^${id}$`));
    await tab.fill("#exact-answer", "60000");
    await shows(tab, ".pager", /Page 1 of \d/);
    await tab.locator(".pager button:has-text('Next')").first().click();
    await shows(tab, ".pager", /Page 2 of \d/);
  });
});

test("Page: context, what goes in and what stays", async (t) => {
  const { open, absent } = (await prepare(t)) ?? {};
  if (!open) return;

  await t.test("settings: redaction, header and footer", async (t) => {
    const tab = await onePrompt(open, t, { fragment: "#phase=answer" });
    await tab.click("#settings summary");
    await tab.check("#setting-redact");
    await shows(tab, "#log-status", /Sensitive items are redacted/);
    await tab.selectOption("#show", "redacted");
    await shows(tab, ".items .list-body", /redacted/);
    await tab.fill("#header", "You are on release duty.");
    await tab.fill("#footer", "Answer in one sentence.");
    await shows(tab, ".legends", /header and footer \d+/);
    await unfold(tab, "#whole-prompt");
    await shows(tab, "#prompt .section", /header.*You are on release duty/);
    await addressed(tab, /header=You are on release duty\..*footer=Answer/);
  });

  await t.test("rules of the user are listed with why, and switched on and off", async (t) => {
    const tab = await onePrompt(open, t, { fragment: "#phase=answer" });
    await tab.click("#settings summary");
    for (const text of [
      "Never restart the checkout without me. Refunds above 200 euros go to me first.",
      "From now on only refunds above 350 euros go to me first.",
    ]) {
      await tab.fill("#turn", text);
      await tab.click("button:has-text('Add the turn')");
      await until(() => tab.inputValue("#turn"), /^$/);
    }
    await shows(tab, "#log-status", /141 items/);
    await unfold(tab, "#rules-in-force");
    await shows(tab, "#rules", /in force.*Never restart the checkout without me.*prohibition, in force.*says “?"Never"/s);
    await shows(tab, "#rules", /350 euros.*took the place of page:turn:1#2/s);
    await tab.click("#rules summary");
    await shows(tab, "#rules details", /Refunds above 200 euros.*replaced by page:turn:2#1/s);
    await tab.locator("#rules .link", { hasText: "page:turn:1" }).first().click();
    await shows(tab, "#item", /Never restart the checkout/);
    await tab.uncheck("#setting-rules");
    await addressed(tab, /set=no-rules/);
    await until(() => tab.locator("#rules").count().then(String), /^0$/);
  });

  await t.test("the address has the state", async (t) => {
    const tab = await onePrompt(open, t);
    const kept = async () => Number(/, (\d+) of/.exec(await tab.textContent("#numbers-answer"))[1]);
    const before = await kept();
    await tab.focus("#budget-answer");
    for (let i = 0; i < 50; i += 1) await tab.keyboard.press("ArrowLeft");
    await addressed(tab, /b\.answer=1\d\d\d/);
    await shows(tab, "#numbers-answer", /of 1,\d\d\d tokens/);
    assert.ok((await kept()) < before);
    assert.match(await tab.getAttribute("#budget-answer", "aria-valuetext"), /^1,\d\d\d tokens$/);
    await tab.selectOption("#phase", "interpret");
    await tab.fill("#query-interpret", "webhook & <b>key");
    await tab.fill("#exact-interpret", "777");
    await addressed(tab, /phase=interpret.*q\.interpret=webhook & <b>key.*b\.interpret=777/);
    await tab.reload();
    await shows(tab, "#numbers-interpret", /of 777 tokens/);
    assert.equal(await tab.inputValue("#query-interpret"), "webhook & <b>key");
    await tab.evaluate(() => (location.hash = "#tab=context&phase=nope&b.answer=1&item=99999"));
    await shows(tab, "#card-answer .failure", /No prompt\. /);
    await shows(tab, ".list-body", /no prompt/);
    await tab.locator(".list-body .row").first().click();
    await shows(tab, "#item", /There is no answer prompt/);
    await tab.fill("#exact-answer", "500");
    await shows(tab, "#numbers-answer", /of 500 tokens/);
  });

  await t.test("a turn changes what a prompt without a limit would have", async (t) => {
    const text = "Why was order 1043 refused? ".repeat(40).trim();
    const tab = await onePrompt(open, t, { fragment: "#phase=answer" });
    const total = async () => Number((await tab.locator("#ledger tfoot td").textContent({ timeout: 1000 })).replaceAll(",", ""));
    const before = Number(await until(async () => `${await total()}`, /^\d+$/));
    await tab.click("#settings summary");
    await tab.fill("#turn", text);
    await tab.press("#turn", "Enter");
    await shows(tab, "#log-status", /140 items/);
    await until(async () => String((await total()) > before + cw.countTokens(text) / 2), /true/);
  });

  await t.test("says that what was loaded is gone after a reload, and leaves its settings to it", async (t) => {
    const tab = await open(t);
    const headline = await tab.textContent("#headline");
    await choose(tab, "context", "own.jsonl", CHAT);
    await shows(tab, "#context-status", /own\.jsonl, chat messages · 2 calls/);
    await tab.fill("#tape-budget", "12345");
    await tab.press("#tape-budget", "Enter");
    await addressed(tab, /budget=12345/);
    await addressed(tab, /data=own/);
    await tab.reload();
    await shows(tab, "#context-status", /44 calls/);
    await shows(tab, "#context-lost", /is gone/);
    await until(() => tab.textContent("#headline"), new RegExp(`^${headline.replace(/[$.]/g, "\\$&")}$`));
    await addressed(tab, /^(?!.*(?:budget|data))/);
    await choose(tab, "context", "own.jsonl", CHAT);
    await shows(tab, "#context-status", /own\.jsonl/);
    assert.equal(await tab.locator("#context-lost").count(), 0);
    // The sample takes its place, and the file stays at hand.
    await tab.selectOption("#context-sample", "shop");
    await shows(tab, "#context-status", /44 calls/);
    await tab.selectOption("#context-sample", { label: "yours: own.jsonl" });
    await shows(tab, "#context-status", /own\.jsonl/);
    await tab.selectOption("#context-sample", "shop");
    await shows(tab, "#context-status", /44 calls/);
    // The field is another one once the session is played.
    await until(() => tab.textContent("#headline"), new RegExp(`^${headline.replace(/[$.]/g, "\\$&")}$`));
    await tab.fill("#tape-budget", "16000");
    await tab.press("#tape-budget", "Enter");
    await addressed(tab, /^#(?!.*data).*budget=16000/);
    await tab.reload();
    await shows(tab, "#counted", /at a budget of 16,000/);
    assert.equal(await tab.locator("#context-lost").count(), 0);
  });

  await t.test("starts its modules again when one did not come", async (t) => {
    t.after(() => absent.clear());
    absent.add("agent_bg.wasm");
    // What was recorded stays true and is shown; a change needs the module.
    const tab = await open(t, { expected: /404/ });
    await tab.fill("#tape-budget", "16000");
    await tab.press("#tape-budget", "Enter");
    await shows(tab, "#tape-problem", /modules of the page could not be loaded.*404/s);
    await shows(tab, "#headline", /44 model calls/);
    absent.clear();
    await tab.fill("#tape-budget", "12000");
    await tab.press("#tape-budget", "Enter");
    await shows(tab, "#counted", /at a budget of 12,000/);
    await until(() => tab.textContent("#tape-problem"), /^$/);
    // Without a record there is nothing to show, and the sample itself can be asked for again.
    absent.add("agent_bg.wasm");
    const other = await open(t, { fragment: "#data=own", first: ["#context-problems", /The sample was not loaded.*404/s], expected: /404/ });
    // What failed does not say that it is loading.
    assert.doesNotMatch(await other.textContent("body"), /Loading/);
    absent.clear();
    await other.click("#context-again");
    await shows(other, "#headline", /44 model calls/);
  });

  await t.test("the address has settings and pins, too", async (t) => {
    const tab = await onePrompt(open, t, { fragment: "#phase=answer&item=16&set=no-rules+redact&pins=4+99999+x" });
    await shows(tab, "#log-status", /Sensitive items are redacted\. Rules of the user are not kept\.$/);
    await shows(tab, "#settings summary", /1 pin/);
    // What comes last stands above the button.
    await shows(tab, "#why-answer", /Budget:/);
    await tab.click("#item button:has-text('Pin it')");
    await addressed(tab, /pins=4 16(?:&|$)/);
    await tab.click("#settings summary");
    await tab.uncheck("#setting-redact");
    await shows(tab, "#log-status", /items\. Rules of the user are not kept\.$/);
    await addressed(tab, /set=no-rules(?:&|$)/);
    await tab.click("button:has-text('Unpin all')");
    await addressed(tab, /^#(?!.*pins)/);
  });

  await t.test("its worker has given the network away", { skip: inFirefox && "a worker of Firefox runs no scripts of Playwright" }, async (t) => {
    const tab = await onePrompt(open, t);
    const [worker] = tab.workers();
    const left = await worker.evaluate(() =>
      ["fetch", "XMLHttpRequest", "WebSocket", "EventSource", "WebTransport", "importScripts"].filter((name) => globalThis[name] !== undefined),
    );
    assert.deepEqual(left, []);
  });

  await t.test("reads transcripts of every format, as a session and as one prompt", async (t) => {
    const tab = await open(t);
    const parts = log.filter(({ kind }) => ["user_turn", "agent_msg", "tool_call", "tool_result"].includes(kind)).slice(0, 40);
    for (const format of ["openai-chat", "openai-responses", "anthropic", "gemini", "ai-sdk-ui", "ai-sdk-model"]) {
      const { messages, system } = cw.itemsToMessages(parts, format, { close_calls: true });
      const text = JSON.stringify(system === undefined ? messages : { system, [format === "gemini" ? "contents" : "messages"]: messages });
      const { items } = cw.messagesToItems(messages, format, system === undefined ? {} : { system });
      await choose(tab, "context", `${format}.json`, text);
      await shows(tab, "#context-status", new RegExp(`^${format}\\.json, chat messages · [1-9]\\d* calls`));
      await shows(tab, "#headline", /model calls|nothing was cut/);
      await tab.click("#tab-tab-context");
      await shows(tab, "#log-status", new RegExp(`^${format}\\.json: ${items.length} items`));
      await shows(tab, "#numbers-answer", /^[\d,]+ of [\d,]+ tokens/);
      await tab.click("#tab-tab-session");
    }
    const manager = new cw.ContextManager();
    manager.ingestAll(log.slice(0, 20));
    await choose(tab, "context", "snapshot.json", JSON.stringify(manager));
    manager.free();
    await shows(tab, "#context-status", /^snapshot\.json · \d+ calls/);
    await choose(tab, "context", "list.json", JSON.stringify(log.slice(0, 7)));
    await shows(tab, "#context-status", /^list\.json · \d+ calls?/);
    await tab.selectOption("#context-sample", "shop");
    await shows(tab, "#context-status", /44 calls/);
  });

  await t.test("problems have line numbers and leave the session as it was", async (t) => {
    const tab = await open(t);
    await tab.click("#context-paste summary");
    for (const [pasted, problem] of [
      ['{"id": secret}\n[', /This is no JSON; we read sessions of Claude Code.*\nline 1: the line is not valid JSON/s],
      [GOOD.replace("user_turn", "nope"), /line 1: unknown kind `nope`/],
      ["", /It is empty; we read/],
    ]) {
      await tab.fill("#context-pasted", pasted);
      await tab.click("#context-paste button");
      await shows(tab, "#context-problems", problem);
      assert.doesNotMatch(await tab.textContent("#context-problems"), /secret|INVALID_INPUT|\/items|\/kind/);
      assert.equal(await tab.textContent("#context-status"), "Recorded session shop.jsonl · 44 calls");
    }
    // A line that cannot be read is told, and the others are there.
    await tab.fill("#context-pasted", `${GOOD}\n\n{"id": secret}\n${GOOD.replace('"a"', '"b"')}`);
    await tab.click("#context-paste button");
    await shows(tab, "#no-calls", /No model call in this file: one prompt/);
    await shows(tab, "#log-status", /: 2 items\./);
    assert.equal(await tab.textContent("#context-problems"), "");
    await shows(tab, "#session-problems", /line 3: the line is not valid JSON/);
    await drop(tab, "dropped.jsonl", CHAT);
    await shows(tab, "#context-status", /dropped\.jsonl, chat messages · 2 calls/);
  });

  await t.test("works by keyboard alone", async (t) => {
    const tab = await onePrompt(open, t, { fragment: "#phase=answer" });
    await tab.keyboard.press("Tab");
    assert.equal(await tab.evaluate(() => document.activeElement.id), "skip");
    await tab.focus(".list");
    await tab.keyboard.press("Home");
    await shows(tab, "#item .item-title", /^i001/);
    for (const key of ["ArrowDown", "ArrowDown", "PageDown", "PageUp", "ArrowDown"]) await tab.keyboard.press(key);
    await shows(tab, "#item .item-title", /^i004/);
    await tab.keyboard.press("End");
    await shows(tab, "#item .item-title", /^i139/);
    // The row comes after what is said of it: the list reads what is in view.
    const active = await until(() => tab.getAttribute(".list", "aria-activedescendant"), /-138$/);
    assert.equal(await tab.locator(`[id="${active}"]`).getAttribute("aria-rowindex"), "140");
    await tab.keyboard.press("Home");
    await shows(tab, "#item .item-title", /^i001/);
  });
});
