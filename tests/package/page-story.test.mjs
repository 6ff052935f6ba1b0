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
import { PHONE, addressed, choose, inFirefox, onePrompt, prepare, shows, unfold, until } from "./page.mjs";

const cw = await import(pathToFileURL(join(packageDir, "dist", "index.js")).href);
const session = await readFile(join(root, "examples", "sessions", "shop.jsonl"), "utf8");
const meta = JSON.parse(await readFile(join(root, "examples", "sessions", "shop.meta.json"), "utf8"));
const log = session
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
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
    await shows(tab, "#headline", /^44 model calls: \$0\.\d\d instead of \$0\.\d\d\.$/);
    await shows(tab, "#call-title", /Call \d+ of 44: a cut/);
    await shows(tab, "#left-here", /left here: \d+ messages/);
    await shows(tab, "#cuts", /it was full.*by handle/s);
    assert.deepEqual([...new Set(served.map(({ name }) => name))].sort(), ["index.html", "page.js", "record.json"]);
    const bytes = served.reduce((sum, each) => sum + each.bytes, 0);
    t.diagnostic(`${Math.round(bytes / 1024)} KiB`);
    assert.ok(bytes <= 400 * 1024, `${bytes} bytes`);
    // The first sign of a visitor brings the engine.
    await tab.mouse.move(200, 200);
    await until(async () => served.map(({ name }) => name).join(), /agent_bg\.wasm/);
    await tab.click("#call-after");
    await shows(tab, "#prompt-sent", /repeated [\d,]+/);
    assert.doesNotMatch(served.map(({ name }) => name).join(), /routing|gateway_bg|decisions_bg/);
  });

  await t.test("stands in the document, near its beginning, and waits for nothing", async () => {
    const html = await readFile(join(page.path, "index.html"), "utf8");
    const end = html.indexOf("</h2>", html.indexOf('id="headline"'));
    assert.ok(end > 0 && html.slice(0, end).includes("44 model calls"));
    const before = html.slice(0, end);
    assert.doesNotMatch(before, /<link rel="stylesheet"|<script(?![^>]*type="module")/);
    const first = gzipSync(before).length;
    assert.ok(first < 14_000, `${first} bytes come before the sentence: more than the first answer of a server carries`);
  });

  await t.test("is drawn from what the engine says", async (t) => {
    const tab = await open(t);
    const read = async () => Promise.all(["#headline", "#counted", "#call", "#cuts"].map((id) => tab.textContent(id)));
    const recorded = await read();
    const change = async (budget) => {
      await tab.fill("#tape-budget", String(budget));
      await tab.press("#tape-budget", "Enter");
      await shows(tab, "#counted", new RegExp(`at a budget of ${number(budget)}`));
    };
    await change(16_000);
    assert.notEqual(await tab.textContent("#headline"), recorded[0]);
    await change(8_000);
    const settled = async () => String((await read()).every((text, at) => text === recorded[at]));
    await until(settled, /true/).catch(() => undefined);
    assert.deepEqual(await read(), recorded);
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
  else
    assert.match(
      said,
      { sensitivity: /lets no model read/, dedup: /says the same/, pair: /is not in the prompt/, kind_limit: /limits how many/ }[own.drop_reason],
      about,
    );
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
    invented: {
      name: "invented.jsonl",
      text: invented.map((item) => JSON.stringify(item)).join("\n"),
      items: invented,
      query: "what became of order 1017?",
      budget: 2500,
    },
  };
  for (const [which, { name, text, items, query, budget }] of Object.entries(sessions)) {
    await t.test(which, async (t) => {
      const tab = await onePrompt(open, t);
      if (name) {
        await choose(tab, "context", name, text);
        await shows(tab, "#log-status", new RegExp(`^${name.replace(".", "\\.")}`));
        await tab.fill("#query-answer", query);
        await tab.fill("#exact-answer", String(budget));
        await shows(tab, "#numbers-answer", new RegExp(`of ${number(budget)} tokens`));
        // Below, the address is changed from outside.
        await addressed(tab, new RegExp(`b\\.answer=${budget}`));
      }
      const manager = new cw.ContextManager();
      manager.ingestAll(items);
      const pick = random(items.length);
      const pack = manager.build({ phase: "answer", query, budget_tokens: budget, explain: true });
      const seen = new Set();
      for (let n = 0; n < 14; n += 1) {
        const place = pick(items.length);
        const { id } = items[place];
        await tab.evaluate((place) => (location.hash = `${location.hash.replace(/&?item=\d+/, "")}&item=${place}`), place);
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
  const tab = await onePrompt(open, t, { viewport: PHONE });
  await tab.locator(".items .list-body .row").nth(2).click();
  await until(() => tab.evaluate(() => document.activeElement.id), /^item-title$/);
  const { y, height } = await tab.locator("#item-title").boundingBox();
  assert.ok(y >= 0 && y + height <= PHONE.height, `${y}`);
});

test("Page: own transcripts", async (t) => {
  const { open } = (await prepare(t)) ?? {};
  if (!open) return;

  await t.test("the sum adds up, and is the same at every budget and for every phase", async (t) => {
    const tab = await onePrompt(open, t);
    await unfold(tab, "#ledger");
    const wholes = new Set();
    for (const [phase, budget] of [
      ["answer", "6000"],
      ["answer", "2500"],
      ["answer", "20000"],
      ["route", "900"],
      ["call", "3000"],
      ["interpret", "1234"],
    ]) {
      await tab.selectOption("#phase", phase);
      await tab.fill(`#exact-${phase}`, budget);
      await shows(tab, `#numbers-${phase}`, new RegExp(`of ${number(Number(budget))} tokens`));
      await shows(tab, "#ledger", new RegExp(`in the ${phase} prompt`));
      const terms = (await tab.locator("#ledger td").allTextContents()).map((text) => Number(text.replaceAll(",", "")));
      const whole = terms.pop();
      assert.equal(
        terms.reduce((sum, each) => sum + each, 0),
        whole,
        await tab.textContent("#ledger"),
      );
      assert.match(await tab.textContent("#prompt-headline"), new RegExp(number(whole)));
      wholes.add(whole);
    }
    assert.equal(wholes.size, 1, [...wholes].join());
  });

  await t.test("something happens: a budget below their size, the last turn as the question, names that differ", async (t) => {
    const tab = await onePrompt(open, t);
    const { messages } = cw.itemsToMessages(
      log.filter(({ kind }) => ["user_turn", "agent_msg", "tool_call", "tool_result"].includes(kind)).slice(0, 40),
      "openai-chat",
      { close_calls: true },
    );
    await choose(tab, "context", "chat.json", JSON.stringify({ messages }));
    await shows(tab, "#log-status", /^chat\.json: \d+ items/);
    await shows(tab, "#prompt-headline", /\d tokens → .*items stay/);
    const [whole, budget] = [numbersOf(await tab.textContent("#ledger tfoot td")).at(-1), Number(await tab.inputValue("#exact-answer"))];
    assert.ok(budget <= 0.45 * whole, `${budget} of ${whole}`);
    assert.match(await tab.getAttribute("#query-answer", "placeholder"), /^last user turn: \w/);
    await shows(tab, ".legends", /no room \d/);
    const names = await tab.locator(".items .list-body .c-name").allTextContents();
    assert.equal(new Set(names).size, names.length);
  });

  await t.test("small ones fit, and the page says so", async (t) => {
    const tab = await onePrompt(open, t);
    await choose(tab, "context", "one.jsonl", '{"id": "a", "kind": "user_turn", "text": "Hello"}');
    await shows(tab, "#prompt-headline", /tokens? fit into \d+: nothing has to go/);
  });

  await t.test("a budget that is none, or too small, is explained", async (t) => {
    const tab = await onePrompt(open, t);
    for (const wrong of ["0", ""]) {
      await tab.fill("#exact-answer", wrong);
      await shows(tab, "#budget-refused", /whole number from 1 to 16,777,216: (?:0|nothing) is none, so it stays at 6,000/);
    }
    await tab.fill("#exact-answer", "20");
    await shows(tab, "#card-answer .failure", /No prompt/);
    await shows(tab, "#prompt-headline", /does not fit into 20 tokens/);
    await tab.click("#raise");
    await shows(tab, "#numbers-answer", /tokens, \d+ of 139 items/);
    assert.equal(await tab.textContent("#budget-refused"), "");
  });

  await t.test("an item that no pin can bring in says so, and cannot be pinned", async (t) => {
    const tab = await onePrompt(open, t, { fragment: "#item=56" });
    await shows(tab, "#item", /cannot be pinned: its label forbids it/);
    assert.ok(await tab.locator("#item button:has-text('Pin it')").isDisabled());
  });
});

test("Page: what a visitor takes along", async (t) => {
  const { open } = (await prepare(t)) ?? {};
  if (!open) return;

  await t.test("the program on the page builds the prompt on the page", async (t) => {
    const { messages } = cw.itemsToMessages(
      log.filter(({ kind }) => ["user_turn", "agent_msg", "tool_call", "tool_result"].includes(kind)).slice(0, 40),
      "anthropic",
      { close_calls: true },
    );
    const manager = new cw.ContextManager();
    manager.ingestAll(log.slice(0, 30));
    const cases = [
      ["shop.jsonl", session, ""],
      ["items.json", JSON.stringify(log.slice(0, 40)), ""],
      ["chat.json", JSON.stringify({ system: "Be brief.", messages }), ""],
      ["snapshot.json", JSON.stringify(manager), ""],
      ["shop.jsonl", session, "&set=no-rules+redact&pins=4+9&header=Above&footer=Below"],
    ];
    manager.free();
    const folder = await project("page-story", { "package.json": "{}" });
    for (const [at, [file, text, fragment]] of cases.entries()) {
      const tab = await onePrompt(open, t, { fragment: `#phase=answer${fragment}` });
      if (file !== "shop.jsonl") {
        await choose(tab, "context", file, text);
        await shows(tab, "#log-status", new RegExp(`^${file.replace(".", "\\.")}`));
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
      await unfold(tab, "#whole-prompt");
      const flat = (all) => all.replace(/\s+/g, "");
      await until(async () => String(flat((await tab.locator("#prompt pre").allTextContents()).join("")) === flat(stdout)), /true/);
    }
  });

  await t.test(
    "link, code and install line reach the clipboard, or the page says that they do not",
    { skip: inFirefox && "Firefox grants no permission to read the clipboard" },
    async (t) => {
      const tab = await onePrompt(open, t);
      await tab.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await tab.click("#copy-code");
      await shows(tab, "#copied", /The code is in your clipboard/);
      assert.match(await tab.evaluate(() => navigator.clipboard.readText()), /^import \{ readFileSync \}/);
      await tab.click("#copy-link");
      await shows(tab, "#copied", /The link is in your clipboard/);
      await tab.click("#copy-install");
      await shows(tab, "#copied", /The line is in your clipboard/);
      assert.equal(await tab.evaluate(() => navigator.clipboard.readText()), "npm install contextweaver");
    },
  );
});
