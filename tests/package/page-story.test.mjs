// What a visitor gets: something true at once, reasons that agree with the figures, and a page that everybody can use.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { packageDir, page, project, root } from "./harness.mjs";
import { PHONE, addressed, choose, inFirefox, prepare, shows, until } from "./page.mjs";

const cw = await import(pathToFileURL(join(packageDir, "dist", "index.js")).href);
const session = await readFile(join(root, "examples", "sessions", "shop.jsonl"), "utf8");
const meta = JSON.parse(await readFile(join(root, "examples", "sessions", "shop.meta.json"), "utf8"));
const log = session.trim().split("\n").map((line) => JSON.parse(line));
const AS_GIVEN = { rules: false, firewall: { threshold_tokens: 2 ** 24 } };
const numbersOf = (text) => text.match(/\d[\d,]*(?:\.\d+)?/g).map((each) => Number(each.replaceAll(",", "")));
const number = (value) => value.toLocaleString("en");

/** A generator of numbers that is the same in every run. */
function random(seed) {
  let state = seed;
  return (below) => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test("Page: the first view", async (t) => {
  const { open, served } = (await prepare(t)) ?? {};
  if (!open) return;

  await t.test("is light, and fetches no module before somebody does something", async (t) => {
    const tab = await open(t);
    await shows(tab, "#headline", /(?:5,\d\d\d|6,000)\. The answer, pg_5d21c8, is still in/);
    await until(() => tab.locator(".list").first().getAttribute("aria-rowcount"), /^140$/);
    await shows(tab, "#item", /i052.*cut.*Cut from 8,\d\d\d to [\d,]+ tokens.*stays down to/s);
    await shows(tab, "#item mark", /pg_5d21c8/);
    assert.deepEqual([...new Set(served.map(({ name }) => name))].sort(), ["index.html", "page.js", "record.json"]);
    const bytes = served.reduce((sum, each) => sum + each.bytes, 0);
    t.diagnostic(`${Math.round(bytes / 1024)} KiB`);
    assert.ok(bytes <= 400 * 1024, `${bytes} bytes`);
    // The first sign of a visitor brings the engine.
    await tab.mouse.move(200, 200);
    await until(async () => served.map(({ name }) => name).join(), /context_bg\.wasm/);
    await tab.click("#phase-call");
    await shows(tab, "#item", /i052.*left out.*partner/s);
    assert.doesNotMatch(served.map(({ name }) => name).join(), /convert|routing/);
  });

  await t.test("stands in the document, near its beginning, and waits for nothing", async () => {
    const html = await readFile(join(page.path, "index.html"), "utf8");
    const end = html.indexOf("</h2>", html.indexOf('id="headline"'));
    assert.ok(end > 0 && html.slice(0, end).includes("pg_5d21c8"));
    const before = html.slice(0, end);
    assert.doesNotMatch(before, /<link rel="stylesheet"|<script(?![^>]*type="module")/);
    const first = gzipSync(before).length;
    assert.ok(first < 14_000, `${first} bytes come before the sentence: more than the first answer of a server carries`);
  });

  await t.test("is drawn from what the engine says", async (t) => {
    const record = JSON.parse(await readFile(join(page.path, "record.json"), "utf8"));
    const [, built] = Object.entries(record).find(([question]) => question.startsWith("context.build"));
    const manager = new cw.ContextManager(AS_GIVEN);
    manager.ingestAll(log);
    for (const view of built.phases) {
      const { stats } = manager.build({ phase: view.phase, query: meta.queries[view.phase].query, budget_tokens: view.budget });
      assert.deepEqual([view.prompt_tokens, view.included], [stats.prompt_tokens, stats.included_count], view.phase);
    }
    manager.free();
    // What is asked of the engine later is what was recorded.
    const tab = await open(t);
    const read = async () => Promise.all(["#headline", "#ledger", "#reason", "#score", "#why-answer", "#missed", "#numbers-route"].map((id) => tab.textContent(id)));
    const recorded = await read();
    await tab.fill("#exact-answer", "3000");
    await shows(tab, "#numbers-answer", /of 3,000 tokens/);
    await tab.fill("#exact-answer", "6000");
    await shows(tab, "#numbers-answer", /of 6,000 tokens/);
    await shows(tab, "#why-answer", /now 6,000/);
    // The answers come one after another.
    const settled = async () => String((await read()).every((text, at) => text === recorded[at]));
    await until(settled, /true/).catch(() => undefined);
    assert.deepEqual(await read(), recorded);
  });

  await t.test("says of the first item that had no room why, and what would have kept it, without a click", async (t) => {
    const tab = await open(t);
    const [, id, needed] = /no room: (\S+) .* ([\d,]+) tokens would have kept it; the budget is 6,000/s.exec(await tab.textContent("#missed"));
    const manager = new cw.ContextManager(AS_GIVEN);
    manager.ingestAll(log);
    const at = (budget_tokens) => manager.build({ phase: "answer", query: meta.queries.answer.query, budget_tokens, explain: true });
    const now = at(6000);
    const dropped = now.explanation.candidates.filter(({ drop_reason }) => drop_reason === "budget");
    const first = Math.max(...dropped.map(({ priority }) => priority ?? 0));
    assert.equal(dropped.find(({ item_id }) => item_id === id)?.priority, first);
    agrees(await tab.textContent("#missed"), "", { ...expectation(now, id), own: { ...expectation(now, id).own, score: null } }, "answer");
    const budget = Number(needed.replaceAll(",", ""));
    assert.deepEqual([budget - 1, budget].map((tokens) => at(tokens).items.some((item) => item.id === id)), [false, true]);
    manager.free();
  });
});

/** The arithmetic behind a reason, from the package alone. */
function expectation(pack, id) {
  const { candidates } = pack.explanation;
  const own = candidates.find((each) => each.item_id === id);
  const block = own && own.score !== null ? candidates.filter((each) => each.score !== null && each.unit === own.unit) : [];
  const priorities = new Map(candidates.filter(({ priority }) => priority != null).map(({ unit, priority }) => [unit, priority]));
  const rank = own?.priority == null ? null : 1 + [...priorities.values()].filter((each) => each > own.priority).length;
  return { own, block, rank, ranked: priorities.size };
}

/** Compares what the page says of an item with that. */
function agrees(said, score, { own, block, rank, ranked }, phase) {
  const about = `${own?.item_id ?? "not a candidate"} in ${phase}: ${said}`;
  if (!own) return assert.match(said, /leaves? all of them out|helps to/, about);
  if (own.score !== null) {
    const { text, neighbours, caller } = own.parts;
    assert.ok(Math.abs(text + neighbours + caller - own.score) < 0.001, about);
    assert.ok(score.startsWith(`Score ${own.score.toFixed(2)}`), `${about} | ${score}`);
    const [total, ...parts] = numbersOf(score);
    if (parts.length > 0) assert.equal(parts.reduce((sum, each) => sum + each, 0).toFixed(2), total.toFixed(2), `${about} | ${score}`);
  }
  if (!own.included && own.drop_reason === "budget") {
    assert.match(said, /but it (?:comes with|takes)/, about);
    // The block is the sum of its items, each told in whole tokens.
    const sum = block.reduce((all, { tokens }) => all + tokens, 0);
    const costs = Number(/([\d,]+) tokens? for the block|takes ([\d,]+) token/.exec(said).slice(1).find(Boolean).replaceAll(",", ""));
    assert.ok(costs >= sum && costs <= sum + block.length, `${about}: ${sum} tokens in its items`);
    const partners = /comes with ([\d,]+) partner/.exec(said);
    assert.equal(partners ? Number(partners[1].replaceAll(",", "")) : 0, block.length - 1, about);
    const free = Number(/; ([\d,]+) (?:was|were) free/.exec(said)[1].replaceAll(",", ""));
    const cut = /, ([\d,]+) cut as far as it goes/.exec(said);
    const needed = cut ? Number(cut[1].replaceAll(",", "")) : costs;
    // The reason is one: what was needed is more than what was free, or so little was free that nothing more is tried.
    assert.ok(needed > free || (free < 10 && said.includes("nothing more is tried")), about);
    assert.deepEqual([needed, free], [own.needed_tokens, own.room_tokens], about);
    assert.ok(said.includes(`number ${number(rank)} of ${number(ranked)}`), `${about}: ${rank} of ${ranked}`);
    return;
  }
  if (own.included && own.taken_by === "priority") {
    const free = Number(/([\d,]+) tokens were free when its turn came/.exec(said)?.[1].replaceAll(",", "") ?? -1);
    if (!said.includes("one line")) assert.ok(free >= own.needed_tokens && free === own.room_tokens, about);
  }
  if (own.included && own.rendered_as === "excerpt") assert.ok(said.includes(`to ${number(own.tokens)} token`), about);
  if (own.included) assert.match(said, /in the prompt|Cut from/, about);
  else assert.match(said, { sensitivity: /lets no model read/, dedup: /says the same/, pair: /is not in the prompt/, kind_limit: /limits how many/ }[own.drop_reason], about);
}

test("Page: reasons agree with the arithmetic", async (t) => {
  const { open } = (await prepare(t)) ?? {};
  if (!open) return;
  const messages = cw.itemsToMessages(
    log.filter(({ kind }) => ["user_turn", "agent_msg", "tool_call", "tool_result"].includes(kind)),
    "openai-chat",
    { close_calls: true },
  ).messages;
  const made = random(7);
  const invented = Array.from({ length: 400 }, (_, at) => {
    const kind = ["user_turn", "agent_msg", "tool_call", "tool_result", "doc_snippet"][at % 5];
    const text = `item ${at} about order ${1000 + made(40)} ${"and what was said of it ".repeat(made(30))}`;
    return { id: `n${at}`, kind, text, ...(kind === "tool_result" && { parent_id: `n${at - 1}` }), ...(at % 53 === 5 && { sensitivity: "restricted" }) };
  });
  const sessions = {
    sample: { items: log, query: meta.queries.answer.query, budget: 6000 },
    messages: { name: "chat.json", text: JSON.stringify(messages), items: cw.messagesToItems(messages, "openai-chat").items, query: "", budget: 4000 },
    invented: { name: "invented.jsonl", text: invented.map((item) => JSON.stringify(item)).join("\n"), items: invented, query: "what became of order 1017?", budget: 2500 },
  };
  for (const [which, { name, text, items, query, budget }] of Object.entries(sessions)) {
    await t.test(which, async (t) => {
      const tab = await open(t);
      if (name) {
        await choose(tab, "context", name, text);
        await shows(tab, "#context-status", new RegExp(`^${name.replace(".", "\\.")}`));
        await tab.fill("#query-answer", query);
        await tab.fill("#exact-answer", String(budget));
        await shows(tab, "#numbers-answer", new RegExp(`of ${number(budget)} tokens`));
        // Below, the address is changed from outside.
        await addressed(tab, new RegExp(`b\\.answer=${budget}`));
      }
      const manager = new cw.ContextManager(AS_GIVEN);
      manager.ingestAll(items);
      const pick = random(items.length);
      const pack = manager.build({ phase: "answer", query, budget_tokens: budget, explain: true });
      const seen = new Set();
      for (let n = 0; n < 14; n += 1) {
        const place = pick(items.length);
        const { id } = items[place];
        await tab.evaluate((place) => (location.hash = `${location.hash.replace(/&?item=\d+/, "")}&item=${place}`), place);
        await until(() => tab.getAttribute("#strip", "aria-valuenow"), new RegExp(`^${place + 1}$`));
        await until(() => tab.textContent("#item-title .id"), new RegExp(`^${id.replaceAll(/[^\w]/g, ".")}$`));
        const expected = expectation(pack, id);
        // The panel may still show what was true of the prompt before; it must come to agree.
        for (let tries = 0; ; tries += 1) {
          try {
            agrees(await tab.textContent("#reason"), (await tab.locator("#score").allTextContents()).join(""), expected, which);
            break;
          } catch (error) {
            if (tries === 60) throw error;
            await new Promise((wait) => setTimeout(wait, 50));
          }
        }
        seen.add(expected.own?.drop_reason || expected.own?.taken_by);
      }
      assert.ok(seen.size > 1, [...seen].join());
      manager.free();
    });
  }
});

test("Page: on a phone a click leads to what is said of an item", async (t) => {
  const { open } = (await prepare(t)) ?? {};
  if (!open) return;
  const tab = await open(t, { viewport: PHONE });
  await tab.locator(".items .list-body .row").nth(2).click();
  await until(() => tab.evaluate(() => document.activeElement.id), /^item-title$/);
  const { y, height } = await tab.locator("#item-title").boundingBox();
  assert.ok(y >= 0 && y + height <= PHONE.height, `${y}`);
});

test("Page: own transcripts", async (t) => {
  const { open } = (await prepare(t)) ?? {};
  if (!open) return;

  await t.test("the sum adds up, and is the same at every budget and for every phase", async (t) => {
    const tab = await open(t);
    const wholes = new Set();
    for (const [phase, budget] of [["answer", "6000"], ["answer", "2500"], ["answer", "20000"], ["route", "900"], ["call", "3000"], ["interpret", "1234"]]) {
      await tab.click(`#phase-${phase}`);
      await tab.fill(`#exact-${phase}`, budget);
      await shows(tab, `#numbers-${phase}`, new RegExp(`of ${number(Number(budget))} tokens`));
      await shows(tab, "#ledger", new RegExp(`in the ${phase} prompt`));
      const terms = (await tab.locator("#ledger b").allTextContents()).map((text) => Number(text.replaceAll(",", "")));
      const whole = terms.pop();
      assert.equal(terms.reduce((sum, each) => sum + each, 0), whole, await tab.textContent("#ledger"));
      assert.match(await tab.textContent("#headline"), new RegExp(number(whole)));
      wholes.add(whole);
    }
    assert.equal(wholes.size, 1, [...wholes].join());
  });

  await t.test("something happens: a budget below their size, the last turn as the question, names that differ", async (t) => {
    const tab = await open(t);
    const { messages } = cw.itemsToMessages(log.filter(({ kind }) => ["user_turn", "agent_msg", "tool_call", "tool_result"].includes(kind)).slice(0, 40), "openai-chat", { close_calls: true });
    await choose(tab, "context", "chat.json", JSON.stringify({ messages }));
    await shows(tab, "#context-status", /^chat\.json: \d+ items/);
    await shows(tab, "#headline", /\d tokens → .*items stay/);
    const [whole, budget] = [numbersOf(await tab.textContent("#ledger")).at(-1), Number(await tab.inputValue("#exact-answer"))];
    assert.ok(budget <= 0.45 * whole, `${budget} of ${whole}`);
    assert.match(await tab.getAttribute("#query-answer", "placeholder"), /^last user turn: \w/);
    await shows(tab, ".legends", /no room \d/);
    const names = await tab.locator(".items .list-body .c-name").allTextContents();
    assert.equal(new Set(names).size, names.length);
  });

  await t.test("small ones fit, and the page says so", async (t) => {
    const tab = await open(t);
    await choose(tab, "context", "one.jsonl", '{"id": "a", "kind": "user_turn", "text": "Hello"}');
    await shows(tab, "#headline", /tokens? fit into \d+: nothing has to go/);
  });

  await t.test("a budget that is none, or too small, is explained", async (t) => {
    const tab = await open(t);
    for (const wrong of ["0", ""]) {
      await tab.fill("#exact-answer", wrong);
      await shows(tab, "#budget-refused", /whole number from 1 to 16,777,216: (?:0|nothing) is none, so it stays at 6,000/);
    }
    await tab.fill("#exact-answer", "20");
    await shows(tab, "#card-answer .failure", /No prompt/);
    await shows(tab, "#headline", /does not fit into 20 tokens/);
    await tab.click("#raise");
    await shows(tab, "#numbers-answer", /tokens, \d+ of 139 items/);
    assert.equal(await tab.textContent("#budget-refused"), "");
  });

  await t.test("an item that no pin can bring in says so, and cannot be pinned", async (t) => {
    const tab = await open(t, { fragment: "#item=56" });
    await shows(tab, "#item", /cannot be pinned: its label forbids it/);
    assert.ok(await tab.locator("#item button:has-text('Pin it')").isDisabled());
  });
});

test("Page: what a visitor takes along", async (t) => {
  const { open } = (await prepare(t)) ?? {};
  if (!open) return;

  await t.test("the program on the page builds the prompt on the page", async (t) => {
    const { messages } = cw.itemsToMessages(log.filter(({ kind }) => ["user_turn", "agent_msg", "tool_call", "tool_result"].includes(kind)).slice(0, 40), "anthropic", { close_calls: true });
    const manager = new cw.ContextManager();
    manager.ingestAll(log.slice(0, 30));
    const cases = [
      ["shop.jsonl", session, ""],
      ["items.json", JSON.stringify(log.slice(0, 40)), ""],
      ["chat.json", JSON.stringify({ system: "Be brief.", messages }), ""],
      ["snapshot.json", JSON.stringify(manager), ""],
      ["shop.jsonl", session, "&set=firewall+redact&pins=4+9&header=Above&footer=Below"],
    ];
    manager.free();
    const folder = await project("page-story", { "package.json": "{}" });
    for (const [at, [file, text, fragment]] of cases.entries()) {
      const tab = await open(t, fragment === "" ? {} : { fragment: `#phase=answer${fragment}` });
      if (file !== "shop.jsonl") {
        await choose(tab, "context", file, text);
        await shows(tab, "#context-status", new RegExp(`^${file.replace(".", "\\.")}`));
        await tab.fill("#exact-answer", "1500");
        await shows(tab, "#numbers-answer", /of 1,500 tokens/);
      }
      await until(() => tab.textContent("#code pre"), fragment === "" ? /manager\.build/ : /pin: \["/);
      const code = await tab.textContent("#code pre");
      const place = join(folder, `case-${at}`);
      await mkdir(place, { recursive: true });
      await writeFile(join(place, file), text);
      await writeFile(join(place, "program.mjs"), code);
      const { stdout, stderr } = await promisify(execFile)(process.execPath, ["program.mjs"], { cwd: place, maxBuffer: 2 ** 24 });
      await shows(tab, "#numbers-answer", new RegExp(`^${number(Number(/^(\d+) of/.exec(stderr)[1]))} of`));
      await tab.click("#view-tab-prompt");
      const flat = (all) => all.replace(/\s+/g, "");
      await until(async () => String(flat((await tab.locator("#prompt pre").allTextContents()).join("")) === flat(stdout)), /true/);
    }
  });

  await t.test("link, code and install line reach the clipboard, or the page says that they do not", { skip: inFirefox && "Firefox grants no permission to read the clipboard" }, async (t) => {
    const tab = await open(t);
    await tab.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await tab.click("#copy-code");
    await shows(tab, "#copied", /The code is in your clipboard/);
    assert.match(await tab.evaluate(() => navigator.clipboard.readText()), /^import \{ readFileSync \}/);
    await tab.click("#copy-link");
    await shows(tab, "#copied", /The link is in your clipboard/);
    await tab.click("#copy-install");
    await shows(tab, "#copied", /The line is in your clipboard/);
    assert.equal(await tab.evaluate(() => navigator.clipboard.readText()), "npm install contextweaver");
  });

  await t.test("two builds side by side, also of two phases", async (t) => {
    const tab = await open(t, { fragment: "#phase=answer&view=changes" });
    await tab.selectOption("#against", "interpret");
    await shows(tab, ".sides", /Then: interpret.*of 4,000 tokens.*Now: answer.*of 6,000 tokens/s);
    await shows(tab, "#change-counts", /[1-9]\d* sections? added/);
    await shows(tab, "#prefix", /ends at byte [\d,]+ of [\d,]+/);
    assert.equal(await tab.locator(".prefix-end").count(), 1);
  });
});
