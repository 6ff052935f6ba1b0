// The tab of prompts: every control, on the recorded session and on transcripts of every format.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { packageDir, root } from "./harness.mjs";
import { addressed, choose, drop, inFirefox, prepare, shows, until } from "./page.mjs";

const PHASES = { route: 2000, call: 3000, interpret: 4000, answer: 6000 };
// The page takes results as they are until its firewall is switched on.
const AS_GIVEN = { rules: false, firewall: { threshold_tokens: 2 ** 24 } };
const GOOD = '{"id": "a", "kind": "user_turn", "text": "x"}';

const session = await readFile(join(root, "examples", "sessions", "shop.jsonl"), "utf8");
const cw = await import(pathToFileURL(join(packageDir, "dist", "index.js")).href);
const log = session.trim().split("\n").map((line) => JSON.parse(line));

test("Page: context", async (t) => {
  const { open } = (await prepare(t)) ?? {};
  if (!open) return;

  await t.test("compiles the sample for all four phases", async (t) => {
    const tab = await open(t);
    const { queries } = JSON.parse(await readFile(join(root, "examples", "sessions", "shop.meta.json"), "utf8"));
    const manager = new cw.ContextManager(AS_GIVEN);
    manager.ingestAll(log);
    for (const [phase, budget] of Object.entries(PHASES)) {
      const { stats, prompt } = manager.build({ phase, query: queries[phase].query, budget_tokens: budget });
      const numbers = `${stats.prompt_tokens.toLocaleString("en")} of ${budget.toLocaleString("en")} tokens, ${stats.included_count} of 139 items`;
      await shows(tab, `#numbers-${phase}`, new RegExp(`^${numbers}$`));
      const label = await tab.locator(`#card-${phase} .budget-bar`).getAttribute("aria-label");
      assert.match(label, /^Budget of .* tokens: .*user turn \d+.*free/);
      assert.ok((await tab.locator(`#card-${phase} .budget-bar .segment`).count()) > 2, phase);
      await tab.click(`#phase-${phase}`);
      await tab.click("#view-tab-prompt");
      // What the sections say is the prompt, but for the lines between them.
      const flat = (text) => text.replace(/\s+/g, "");
      const expected = flat(prompt);
      await until(async () => String(flat((await tab.locator("#prompt pre").allTextContents()).join("")) === expected), /true/);
    }
    manager.free();
  });

  await t.test("marks every item, and says why it was left out", async (t) => {
    const tab = await open(t, { fragment: "#phase=interpret" });
    await until(() => tab.locator(".list").first().getAttribute("aria-rowcount"), /^140$/);
    // The list is made anew after the choice: what it showed before may still stand at first.
    const chosen = async (phase, show, wanted) => {
      await tab.click(`#phase-${phase}`);
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
    await tab.click("#phase-route");
    await tab.click(".legends .link:has-text('not for this phase')");
    await addressed(tab, /phase=route.*show=phase|show=phase.*phase=route/);
    await until(() => tab.locator(".list").first().getAttribute("aria-rowcount"), /^113$/);
  });

  await t.test("what comes late has its room, so that no button moves from under a click", async (t) => {
    const tab = await open(t);
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
    const tab = await open(t, { fragment: "#phase=answer&item=16" });
    await shows(tab, "#item .item-title", /i017.*left out/);
    await shows(tab, "#item", /words it shares with the query/);
    const answer = await shows(tab, "#why-answer", /from [\d,]+ tokens on.*Pin: it would be in, for [\d,]+ tokens.*items would leave/);
    const needed = Number(/from ([\d,]+) tokens/.exec(answer)[1].replaceAll(",", ""));
    const { queries } = JSON.parse(await readFile(join(root, "examples", "sessions", "shop.meta.json"), "utf8"));
    const manager = new cw.ContextManager(AS_GIVEN);
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
    await until(async () => (await tab.locator("#card-answer .failure").count()) + (await tab.textContent("#item .item-title")), /BUDGET_EXCEEDED|^1|kept|cut/);
    await tab.click("#item button:has-text('Unpin')");
    await shows(tab, "#item .item-title", /left out/);
  });

  await t.test("a pin costs what must come with it, too", async (t) => {
    const { queries } = JSON.parse(await readFile(join(root, "examples", "sessions", "shop.meta.json"), "utf8"));
    const manager = new cw.ContextManager(AS_GIVEN);
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
      const tab = await open(t, { fragment: `#phase=answer&item=${log.findIndex((item) => item.id === id)}` });
      await shows(tab, "#item .item-title", new RegExp(`^${id}.*left out`));
      await shows(tab, "#why-answer", new RegExp(`for ${tokens.toLocaleString("en")} tokens with the ${entered.length - 1} items that must come with it`));
    }
    manager.free();
  });

  await t.test("a pin that the policy forbids says so, and leaves the prompts as they are", async (t) => {
    const tab = await open(t);
    const numbers = () => Promise.all(Object.keys(PHASES).map((phase) => tab.textContent(`#numbers-${phase}`)));
    const before = await numbers();
    await tab.evaluate(() => (location.hash = "#item=56&pins=56+56"));
    await shows(tab, "#refused-pins", /Not pinned: i057 .*confidential and cannot be pinned.*POLICY_VIOLATION/);
    await shows(tab, "#item .failure", /cannot be pinned/);
    assert.deepEqual(await numbers(), before);
    assert.equal(await tab.locator("#refused-pins p").count(), 1);
    await shows(tab, "#why-answer", /would not help: .*cannot be pinned/);
    // Another pin beside it is obeyed.
    await tab.evaluate(() => (location.hash = "#item=16&pins=56+16&b.answer=20000"));
    await shows(tab, "#item .item-title", /i017.*kept/);
    await shows(tab, "#refused-pins", /i057/);
    await tab.evaluate(() => (location.hash = "#item=56&pins=56"));
    await tab.click("#item button:has-text('Unpin')");
    await until(() => tab.textContent("#refused-pins"), /^$/);
    // Where its place is shown instead of its text, nothing is forbidden.
    await tab.evaluate(() => (location.hash = "#item=56&pins=56&set=redact"));
    await shows(tab, "#item .item-title", /i057.*redacted/);
    await until(() => tab.textContent("#refused-pins"), /^$/);
  });

  await t.test("the prompt leads to items and back", async (t) => {
    const tab = await open(t, { fragment: "#phase=answer&view=prompt" });
    await tab.locator("#prompt .section .link").nth(5).click();
    const id = await tab.locator("#prompt .section .link").nth(5).textContent();
    await until(() => tab.locator(".list-body [aria-selected=true]").textContent(), new RegExp(`^${id}`));
    await tab.click("#view-tab-item");
    await shows(tab, "#item .item-title", new RegExp(`^${id}`));
    await tab.click("button:has-text('Show in the prompt')");
    await until(() => tab.locator("#prompt .section.selected .link").textContent(), new RegExp(`^${id}$`));
    await tab.fill("#exact-answer", "60000");
    await shows(tab, ".pager", /Page 1 of \d/);
    await tab.locator(".pager button:has-text('Next')").first().click();
    await shows(tab, ".pager", /Page 2 of \d/);
  });

  await t.test("shows what a change does to the prompt, and where the cacheable prefix ends", async (t) => {
    const tab = await open(t, { fragment: "#phase=answer&view=changes" });
    await shows(tab, "#changes", /Nothing to compare with yet/);
    await tab.click("button:has-text('Compare with this prompt')");
    await tab.fill("#exact-answer", "3000");
    await shows(tab, "#change-counts", /0 sections added, [1-9]\d* removed.*budget 6,000 → 3,000/);
    await shows(tab, "#prefix", /ends at byte [\d,]+ of [\d,]+ \(\d+ %, [\d,]+ tokens?\)/);
    assert.equal(await tab.locator(".prefix-end").count(), 1);
    const bytes = /byte ([\d,]+) of/.exec(await tab.textContent("#prefix"))[1];
    await tab.click("#view-tab-prompt");
    await shows(tab, "#view-panel-prompt", new RegExp(`The first ${bytes} bytes are those of the prompt before`));
    assert.equal(await tab.locator("#prompt .section:not(.fresh) + .fresh").count(), 1);
    await tab.click("#view-tab-changes");
    await tab.fill("#exact-answer", "6000");
    await shows(tab, "#prefix", /\(100 %/);
    await tab.click("button:has-text('Compare with the prompt before')");
    // In a loop a turn leaves the bytes of the earlier prompt as they were.
    await tab.click("#settings summary");
    await tab.check("#setting-running");
    await shows(tab, "#context-status", /Prompts go on, as in the loop of an agent/);
    await tab.fill("#exact-answer", "40000");
    await shows(tab, "#numbers-answer", /of 40,000 tokens/);
    await tab.click("button:has-text('Compare with this prompt')");
    await tab.fill("#turn", "And what about order 1043?");
    await tab.press("#turn", "Enter");
    await shows(tab, "#context-status", /140 items/);
    await shows(tab, "#change-counts", /[1-9]\d* sections? added, 0 removed, 0 changed/);
    await shows(tab, "#running", /Step \d+ of the loop: [1-9][\d,]* of [\d,]+ tokens repeat the step before\..*Nothing had to be cut/);
  });

  await t.test("compares with the first prompt, however soon it is changed", async (t) => {
    const tab = await open(t, { fragment: "#phase=answer&view=changes", first: ["#changes", /Nothing to compare with yet/] });
    await tab.fill("#exact-answer", "3000");
    await shows(tab, "#change-counts", /\(budget 6,000 → 3,000\)/);
    await shows(tab, "#change-counts", /0 sections added, [1-9]/);
    // Another transcript begins anew.
    await choose(tab, "context", "own.jsonl", session);
    await shows(tab, "#context-status", /own\.jsonl/);
    await shows(tab, "#changes", /Nothing to compare with yet/);
  });

  await t.test("says of the prompts of a loop what is true of the one it is compared with", async (t) => {
    const tab = await open(t, { fragment: "#phase=answer&view=changes&set=running" });
    await tab.click("button:has-text('Compare with this prompt')");
    for (const budget of ["3000", "6000"]) {
      await tab.fill("#exact-answer", budget);
      await shows(tab, "#numbers-answer", new RegExp(`of ${Number(budget).toLocaleString("en")} tokens`));
    }
    await shows(tab, "#running", /The budget is another one and something was left out/);
    await tab.click("button:has-text('Compare with the prompt before')");
    await tab.click("button:has-text('Compare with this prompt')");
    await tab.click("#settings summary");
    await tab.fill("#turn", "And what about order 1043?");
    await tab.press("#turn", "Enter");
    await shows(tab, "#context-status", /140 items/);
    await shows(tab, "#running", /the prompt before is the beginning of this one/);
    await shows(tab, "#change-counts", /0 removed, 0 changed/);
    // Room that is kept free is no lack of room.
    const legends = () => tab.textContent(".legends");
    await until(legends, /kept free to grow [\d,]+/);
    await until(legends, /left at the last cut \d+/);
    assert.doesNotMatch(await legends(), /no room/);
    await tab.click(".legends .link:has-text('left at the last cut')");
    await addressed(tab, /show=left/);
    await shows(tab, ".list-body", /left at the last cut/);
    await tab.locator(".list-body .row").first().click();
    await shows(tab, "#item", /was not worth its room\. The [\d,]+ tokens that are free now are kept/);
  });

});

test("Page: context, what goes in and what stays", async (t) => {
  const { open, absent } = (await prepare(t)) ?? {};
  if (!open) return;

  await t.test("settings: firewall, redaction, header and footer", async (t) => {
    const tab = await open(t, { fragment: "#phase=answer&view=artifacts" });
    await tab.click("#settings summary");
    await tab.check("#setting-firewall");
    await shows(tab, "#context-status", /Large results are digests/);
    await tab.selectOption("#show", "summarised");
    await shows(tab, ".items .list-body", /of [\d,]+ tokens/);
    await tab.check("#setting-redact");
    await shows(tab, "#context-status", /Sensitive items are redacted/);
    await tab.selectOption("#show", "redacted");
    await shows(tab, ".items .list-body", /redacted/);
    await tab.fill("#header", "You are on release duty.");
    await tab.fill("#footer", "Answer in one sentence.");
    await shows(tab, ".legends", /header and footer \d+/);
    await tab.click("#view-tab-prompt");
    await shows(tab, "#prompt .section", /header.*You are on release duty/);
    await addressed(tab, /header=You are on release duty\..*footer=Answer/);
  });

  await t.test("artifacts have views and can be drilled into", async (t) => {
    const tab = await open(t, { fragment: "#phase=answer&item=16" });
    await tab.click("button:has-text('Look into the result')");
    await shows(tab, "#artifact h3", /artifact:i017/);
    await tab.locator(".views .link").first().click();
    await shows(tab, "#slice", /lines \d+ to \d+ of 239.*ERROR inventory/s);
    await tab.fill("#selector", '{"type":"lines","start":0,"end":200}');
    await tab.click("button:has-text('Drill down')");
    await shows(tab, "#slice", /lines 0 to \d+ of 239/);
    await tab.click("button:has-text('Go on')");
    await shows(tab, "#slice", /lines [1-9]\d* to \d+ of 239/);
    await tab.fill("#selector", '{"type":"nope"}');
    await tab.click("button:has-text('Drill down')");
    await shows(tab, "#view-panel-artifacts .failure", /UNSUPPORTED|INVALID_INPUT/);
    await tab.locator(".details .list-body .row").nth(1).click();
    await shows(tab, "#artifact h3", /artifact:i0/);
  });

  await t.test("rules of the user are listed with why, and switched on and off", async (t) => {
    const tab = await open(t, { fragment: "#phase=answer" });
    await tab.click("#settings summary");
    for (const text of ["Never restart the checkout without me. Refunds above 200 euros go to me first.", "From now on only refunds above 350 euros go to me first."]) {
      await tab.fill("#turn", text);
      await tab.click("button:has-text('Add the turn')");
      await until(() => tab.inputValue("#turn"), /^$/);
    }
    await shows(tab, "#context-status", /141 items/);
    await tab.click("#view-tab-rules");
    await tab.check("#setting-rules");
    await addressed(tab, /set=rules/);
    await shows(tab, "#rules", /in force.*Never restart the checkout without me.*prohibition, in force.*says “?"Never"/s);
    await shows(tab, "#rules", /350 euros.*took the place of page:turn:1#2/s);
    await tab.click("#rules summary");
    await shows(tab, "#rules details", /Refunds above 200 euros.*replaced by page:turn:2#1/s);
    await tab.locator("#rules .link", { hasText: "page:turn:1" }).first().click();
    await shows(tab, "#item", /Never restart the checkout/);
    await tab.click("#view-tab-rules");
    await tab.uncheck("#setting-rules");
    await until(() => tab.locator("#rules").count().then(String), /^0$/);
  });

  await t.test("the address has the state", async (t) => {
    const tab = await open(t);
    const kept = async () => Number(/, (\d+) of/.exec(await tab.textContent("#numbers-answer"))[1]);
    const before = await kept();
    await tab.focus("#budget-answer");
    for (let i = 0; i < 50; i += 1) await tab.keyboard.press("ArrowLeft");
    await addressed(tab, /b\.answer=1\d\d\d/);
    await shows(tab, "#numbers-answer", /of 1,\d\d\d tokens/);
    assert.ok((await kept()) < before);
    assert.match(await tab.getAttribute("#budget-answer", "aria-valuetext"), /^1,\d\d\d tokens$/);
    await tab.click("#phase-interpret");
    await tab.fill("#query-interpret", "webhook & <b>key");
    await tab.fill("#exact-interpret", "777");
    await tab.press("#view-tab-item", "ArrowRight");
    await addressed(tab, /phase=interpret.*q\.interpret=webhook & <b>key.*b\.interpret=777.*view=prompt/);
    await tab.reload();
    await shows(tab, "#numbers-interpret", /of 777 tokens/);
    assert.equal(await tab.inputValue("#query-interpret"), "webhook & <b>key");
    assert.equal(await tab.getAttribute("#view-tab-prompt", "aria-selected"), "true");
    await tab.evaluate(() => (location.hash = "#phase=nope&b.answer=1&item=99999&view=nope"));
    await shows(tab, "#card-answer .failure", /No prompt\. .*BUDGET_EXCEEDED/);
    await shows(tab, ".list-body", /no prompt/);
    await tab.locator(".list-body .row").first().click();
    await shows(tab, "#item", /There is no answer prompt/);
    await tab.fill("#exact-answer", "500");
    await shows(tab, "#numbers-answer", /of 500 tokens/);
  });

  await t.test("a turn changes what a prompt without a limit would have", async (t) => {
    const text = "Why was order 1043 refused? ".repeat(40).trim();
    for (const [settings, options] of [["", {}], ["running", {}], ["firewall", undefined]]) {
      const tab = await open(t, { fragment: `#phase=answer&set=${settings}` });
      const total = async () => Number(/= ([\d,]+)$/.exec(await tab.textContent("#ledger", { timeout: 1000 }))[1].replaceAll(",", ""));
      // A question that the page asked while it was made ready may be answered once more before the turn is.
      const before = Number(await until(async () => `${await total()}`, /^\d+$/));
      await tab.click("#settings summary");
      await tab.fill("#turn", text);
      await tab.press("#turn", "Enter");
      await shows(tab, "#context-status", /140 items/);
      const grows = async () => (await total()) > before + cw.countTokens(text) / 2;
      if (options === undefined) {
        await until(async () => String(await grows()), /true/);
        continue;
      }
      const manager = new cw.ContextManager({ ...AS_GIVEN, ...options });
      manager.ingestAll([...log, { id: "page:turn:1", kind: "user_turn", text }]);
      const allOf = (running) => {
        const { stats } = manager.build({ phase: "answer", budget_tokens: 2 ** 24, ...(running && { running }) });
        // What no budget lets in is named beside it; each item is told in whole tokens, the prompt in one sum.
        return stats.prompt_tokens + stats.dropped_items.reduce((sum, { tokens }) => sum + tokens, 0);
      };
      // A running prompt shows what others show a digest of; once it was cut, some of it.
      const [least, most] = [allOf(false), allOf(settings === "running")];
      const isWithin = (after) => after >= least - log.length / 4 && after <= most + log.length / 4;
      await until(async () => `${(await grows()) && isWithin(await total())}, ${await total()} shown, from ${least} to ${most}`, /^true/);
      manager.free();
    }
  });

  await t.test("says that what was loaded is gone after a reload, and leaves its budgets to it", async (t) => {
    const tab = await open(t);
    const sample = await tab.textContent("#numbers-answer");
    await choose(tab, "context", "own.jsonl", `${GOOD}\n${GOOD.replace('"a"', '"b"')}`);
    await shows(tab, "#context-status", /own\.jsonl: 2 items/);
    await tab.fill("#exact-answer", "777");
    await tab.fill("#query-answer", "my own query");
    await addressed(tab, /b\.answer=777/);
    await addressed(tab, /data=own/);
    await tab.reload();
    await shows(tab, "#context-status", /139 items/);
    await shows(tab, "#context-lost", /is gone/);
    await until(() => tab.textContent("#numbers-answer"), new RegExp(`^${sample}$`));
    await addressed(tab, /^(?!.*(?:b\.|q\.|data))/);
    await choose(tab, "context", "own.jsonl", GOOD);
    await shows(tab, "#context-status", /own\.jsonl: 1 item\./);
    assert.equal(await tab.locator("#context-lost").count(), 0);
    // What the address says of the sample stays.
    await tab.selectOption("#context-sample", "shop");
    await shows(tab, "#context-status", /139 items/);
    await tab.fill("#exact-answer", "777");
    await addressed(tab, /^#(?!.*data).*b\.answer=777/);
    await tab.reload();
    await shows(tab, "#numbers-answer", /of 777 tokens/);
    assert.equal(await tab.locator("#context-lost").count(), 0);
  });

  await t.test("starts its modules again when one did not come", async (t) => {
    t.after(() => absent.clear());
    absent.add("context_bg.wasm");
    // What was recorded stays true and is shown; a change needs the module.
    const tab = await open(t, { expected: /404/ });
    await tab.fill("#exact-answer", "3000");
    await shows(tab, "#context-problem", /modules of the page could not be loaded.*404/s);
    await shows(tab, "#numbers-answer", /of 6,000 tokens/);
    absent.clear();
    await tab.click("#engine-again");
    await shows(tab, "#numbers-answer", /of 3,000 tokens/);
    await until(() => tab.textContent("#context-problem"), /^$/);
    // Without a record there is nothing to show, and the sample itself can be asked for again.
    absent.add("context_bg.wasm");
    const other = await open(t, { fragment: "#set=redact", first: ["#context-problems", /The sample was not loaded.*404/s], expected: /404/ });
    absent.clear();
    await other.click("#context-again");
    await shows(other, "#numbers-answer", /of 6,000 tokens/);
  });

  await t.test("the address has settings and pins, too", async (t) => {
    const tab = await open(t, { fragment: "#phase=answer&item=16&set=firewall+redact&pins=4+99999+x" });
    await shows(tab, "#context-status", /Large results are digests\. Sensitive items are redacted\.$/);
    await shows(tab, "#settings summary", /1 pin/);
    // What comes last stands above the button.
    await shows(tab, "#why-answer", /Budget:/);
    await tab.click("#item button:has-text('Pin it')");
    await addressed(tab, /pins=4 16(?:&|$)/);
    await tab.click("#settings summary");
    await tab.uncheck("#setting-firewall");
    await shows(tab, "#context-status", /items\. Sensitive items are redacted\.$/);
    await addressed(tab, /set=redact(?:&|$)/);
    await tab.click("button:has-text('Unpin all')");
    await addressed(tab, /^#(?!.*pins)/);
  });

  await t.test("its worker has given the network away", { skip: inFirefox && "a worker of Firefox runs no scripts of Playwright" }, async (t) => {
    const tab = await open(t);
    await tab.fill("#exact-answer", "3000");
    await shows(tab, "#numbers-answer", /of 3,000 tokens/);
    const [worker] = tab.workers();
    const left = await worker.evaluate(() => ["fetch", "XMLHttpRequest", "WebSocket", "EventSource", "WebTransport", "importScripts"].filter((name) => globalThis[name] !== undefined));
    assert.deepEqual(left, []);
  });

  await t.test("reads transcripts of every format", async (t) => {
    const tab = await open(t);
    const parts = log.filter(({ kind }) => ["user_turn", "agent_msg", "tool_call", "tool_result"].includes(kind)).slice(0, 40);
    for (const format of ["openai-chat", "openai-responses", "anthropic", "gemini", "ai-sdk-ui", "ai-sdk-model"]) {
      const { messages, system } = cw.itemsToMessages(parts, format, { close_calls: true });
      const text = JSON.stringify(system === undefined ? messages : { system, [format === "gemini" ? "contents" : "messages"]: messages });
      const options = system === undefined ? {} : { system };
      const { items } = cw.messagesToItems(messages, format, options);
      for (const named of ["auto", format]) {
        await tab.selectOption("#context-format", named);
        await choose(tab, "context", `${named}-${format}.json`, text);
        await shows(tab, "#context-status", new RegExp(`^${named}-${format}\\.json: ${items.length} items`));
      }
      await shows(tab, "#numbers-answer", /^[\d,]+ of [\d,]+ tokens/);
    }
    const manager = new cw.ContextManager(AS_GIVEN);
    manager.ingestAll(log.slice(0, 20));
    await tab.selectOption("#context-format", "auto");
    await choose(tab, "context", "snapshot.json", JSON.stringify(manager));
    manager.free();
    await shows(tab, "#context-status", /^snapshot\.json: 20 items/);
    await choose(tab, "context", "list.json", JSON.stringify(log.slice(0, 7)));
    await shows(tab, "#context-status", /^list\.json: 7 items/);
    await tab.selectOption("#context-sample", "shop");
    await shows(tab, "#context-status", /139 items/);
  });

  await t.test("problems have line numbers and leave the session as it was", async (t) => {
    const tab = await open(t);
    await tab.click("#context-paste summary");
    for (const [pasted, problem] of [
      [`${GOOD}\n\n{"id": secret}\n[`, /line 3: not valid JSON\nline 4: not valid JSON$/],
      [`\n${GOOD}\n${GOOD.replace("user_turn", "nope")}`, /line 3 at \/kind: .*INVALID_INPUT/],
      ["", /no item/],
    ]) {
      await tab.fill("#context-pasted", pasted);
      await tab.click("#context-paste button");
      await shows(tab, "#context-problems", problem);
      assert.doesNotMatch(await tab.textContent("#context-problems"), /secret/);
      await shows(tab, "#context-status", /139 items/);
    }
    await tab.fill("#context-pasted", GOOD);
    await tab.click("#context-paste button");
    await shows(tab, "#context-status", /: 1 item\./);
    assert.equal(await tab.textContent("#context-problems"), "");
    await drop(tab, "dropped.jsonl", `${GOOD}\n${GOOD.replace('"a"', '"b"')}`);
    await shows(tab, "#context-status", /dropped\.jsonl: 2 items/);
  });

  await t.test("works by keyboard alone", async (t) => {
    const tab = await open(t, { fragment: "#phase=answer" });
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
    await tab.focus("#view-tab-item");
    await tab.keyboard.press("End");
    assert.equal(await tab.evaluate(() => document.activeElement.id), "view-tab-rules");
  });
});
