// The session as a tape: real logs of three agents, what the chart says and does, every state that is not the usual one, and what other
// eyes and hands get of it.
import assert from "node:assert/strict";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { gunzipSync } from "node:zlib";
import { here, project, root, run } from "./harness.mjs";
import { DESKTOP, PHONE, WIDE, accessible, addressed, choose, fits, inFirefox, picture, prepare, shows, until } from "./page.mjs";

const fixtures = join(root, "tests/package/fixtures/audit");
const codex = gunzipSync(await readFile(join(fixtures, "rollout-codex-long.jsonl.gz"))).toString();
const lines = (values) => values.map((value) => JSON.stringify(value)).join("\n");
const number = (value) => value.toLocaleString("en");
const figuresOf = (text) => [...text.matchAll(/\d[\d,]*(?:\.\d+)?/g)].map(([found]) => Number(found.replaceAll(",", "")));

/** Chat messages with so many calls of a tool, each with a result of so many words. */
function chat(calls, words, end = [{ role: "assistant", content: "It is done." }]) {
  const steps = Array.from({ length: calls }, (_, n) => [
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: `c${n}`, type: "function", function: { name: "read", arguments: JSON.stringify({ path: `part-${n}.txt` }) } }],
    },
    { role: "tool", tool_call_id: `c${n}`, content: Array.from({ length: words }, (_, at) => `word${(at * 7 + n * 131) % 997}`).join(" ") },
  ]);
  return [{ role: "user", content: "Read the parts and say which has the held order." }, ...steps.flat(), ...end];
}

/** A log of requests, with the provider's usage where it is asked for. */
function requests(messages, { model = "gpt-5", usage, gap = 10 } = {}) {
  const start = Date.parse("2026-10-01T09:00:00Z");
  const ends = messages.flatMap(({ role }, at) => (role === "assistant" ? [at] : []));
  return lines(
    ends.map((end, n) => ({
      timestamp: new Date(start + n * gap * 1000).toISOString(),
      request: { model, messages: messages.slice(0, end) },
      response: { id: `r${n}`, model, ...(usage && { usage: usage(n) }) },
    })),
  );
}

async function play(tab, name, text) {
  await choose(tab, "context", name, text);
  await shows(tab, "#context-status", new RegExp(`^${name.replaceAll(".", "\\.")}`));
}

test("Page: shows of each call what the provider got", async (t) => {
  const { open } = (await prepare(t)) ?? {};
  if (!open) return;
  const budget = 8_000;
  const recorded = chat(9, 700);
  const received = await sentToProvider(recorded, budget);
  assert.equal(received.length, 10);
  const tab = await open(t, { viewport: WIDE });
  await play(tab, "chat.jsonl", lines(recorded));
  await tab.fill("#tape-budget", String(budget));
  await tab.locator("#tape-budget").blur();
  await shows(tab, "#headline", /10 model calls/);
  let cuts = 0;
  for (const [at, { messages }] of received.entries()) {
    await tab.focus("#tape");
    await tab.keyboard.press(at === 0 ? "Home" : "ArrowRight");
    cuts += /a cut/.test(await shows(tab, "#call-title", new RegExp(`Call ${at + 1} of`)));
    const shown = await readPrompt(tab, messages.length);
    // Ids of calls are the provider's own matter; all that a model reads is here.
    const sent = messages.map(({ content, tool_calls: calls = [] }) =>
      [content ?? "", ...calls.map(({ function: { name, arguments: given } }) => `${name} ${given}`)].filter((part) => part !== "").join("\n"),
    );
    assert.deepEqual(shown, sent, `call ${at + 1}`);
  }
  assert.ok(cuts >= 1, "there is a cut in it");
});

/** What OpenAI's own client sends for each call of a conversation, by an adapter with this budget. */
async function sentToProvider(messages, budget_tokens) {
  const folder = await project("page-sent");
  await symlink(join(here, "node_modules", "openai"), join(folder, "node_modules", "openai"));
  await writeFile(join(folder, "conversation.json"), JSON.stringify(messages));
  await writeFile(
    join(folder, "send.mjs"),
    `
    import { readFile } from "node:fs/promises";
    import OpenAI from "openai";
    import { contextWeaver } from "contextweaver/openai";
    const messages = JSON.parse(await readFile("conversation.json", "utf8"));
    const received = [];
    const answer = { id: "chat", object: "chat.completion", created: 1, model: "gpt-5", choices: [{ index: 0, finish_reason: "stop", logprobs: null, message: { role: "assistant", content: "", refusal: null } }] };
    const fetch = async (_, { body }) => (received.push(JSON.parse(body)), Response.json(answer));
    const client = new OpenAI({ apiKey: "none", fetch });
    const cw = contextWeaver({ tools: [], budget_tokens: ${budget_tokens} });
    for (const [at, { role }] of messages.entries()) if (role === "assistant") await client.chat.completions.create(cw.fit({ model: "gpt-5", messages: messages.slice(0, at) }));
    console.log(JSON.stringify(received));
  `,
  );
  return JSON.parse((await run("node", ["send.mjs"], { cwd: folder })).stdout);
}

/** Opens the table of calls. The page draws it once it hears that it was opened, later than the click returns. */
async function openTable(tab) {
  await tab.click("#as-table > summary");
  await shows(tab, "#as-table", /Whole conversation/);
}

/** Opens every message of the prompt that is shown, and reads its text from the page. */
async function readPrompt(tab, count) {
  const pieces = tab.locator("#prompt-sent .run:not(.left) .piece");
  await until(
    async () => {
      for (const run of await tab.locator("#prompt-sent .run:not(.left) > details:not([open]) > summary").all()) await run.click();
      return String(await pieces.count());
    },
    new RegExp(`^${count}$`),
  );
  await tab.locator("#prompt-sent").evaluate((sent) => {
    for (const piece of sent.querySelectorAll(".run:not(.left) .piece")) piece.open = true;
  });
  const texts = () => pieces.locator("pre.text").allTextContents();
  await until(async () => String((await texts()).length), new RegExp(`^${count}$`));
  return texts();
}

test("Page: real sessions of agents", async (t) => {
  const { open } = (await prepare(t)) ?? {};
  if (!open) return;

  await t.test("a file that is not recognised says what was seen, and can be read as what the visitor knows it is", async (t) => {
    const tab = await open(t);
    assert.equal(await tab.locator("#context-format").count(), 0, "nobody is asked what is known");
    await choose(tab, "context", "noted.jsonl", lines([{ about: "exported by hand" }, ...chat(3, 20)]));
    await shows(tab, "#context-problems", /noted\.jsonl was not loaded\.\s+This is a list of objects with the fields `about`, `role`, `content`/);
    await shows(tab, "#context-status", /shop\.jsonl/);
    const known = await tab.locator("#context-format option").allTextContents();
    for (const name of [
      "Claude Code",
      "Codex",
      "OpenCode",
      "Gemini CLI",
      "mini-swe-agent",
      "OpenHands",
      "OpenTelemetry",
      "requests",
      "contextweaver",
      "chat messages",
    ])
      assert.ok(known.includes(name), `${name}: ${known}`);
    await tab.selectOption("#context-format", "codex");
    await tab.click("#context-read-as");
    await shows(tab, "#context-problems", /There is no message in it/);
    assert.equal(await tab.inputValue("#context-format"), "codex");
    await tab.selectOption("#context-format", "chat-messages");
    await tab.click("#context-read-as");
    await shows(tab, "#context-status", /^noted\.jsonl, chat messages · 4 calls/);
    await shows(tab, "#session-problems", /line 1: the line is no message/);
    assert.equal(await tab.locator("#context-format").count(), 0);
    await choose(tab, "context", "empty.jsonl", "");
    await shows(tab, "#context-problems", /It is empty/);
    assert.equal(await tab.locator("#context-format").count(), 0, "no format makes something of nothing");
  });

  await t.test("open as they are, recognised by what is in them", async (t) => {
    const tab = await open(t);
    for (const [file, status, headline] of [
      ["rollout-codex.jsonl", /Codex · 5 calls/, /13,929 tokens fit into 32,000: nothing was cut\. The same price as without contextweaver/],
      ["claude-code.jsonl", /Claude Code · 7 calls/, /fit into 128,000: nothing was cut/],
      ["claude-code-subagent.jsonl", /Claude Code · 2 calls/, /nothing was cut/],
      ["gemini-cli.jsonl", /Gemini CLI · 4 calls/, /4 model calls: \$0\.\d+ instead of \$0\.\d+/],
      ["opencode.json", /OpenCode · 4 calls/, /4 model calls: \$0\.\d+ instead of \$0\.\d+/],
    ]) {
      await choose(tab, "context", `own-${file}`, await readFile(join(fixtures, file), "utf8"));
      await shows(tab, "#context-status", status);
      await shows(tab, "#headline", headline);
      await shows(tab, "#prompt-sent", /repeated|new/);
    }
    // A compaction by the agent is not a cut of ours.
    await choose(tab, "context", "claude-code.jsonl", await readFile(join(fixtures, "claude-code.jsonl"), "utf8"));
    await shows(tab, "#counted", /1 time the agent itself compacted/);
    await tab.click("#cut-before").catch(() => undefined);
    await shows(tab, "#cuts", /the agent compacted its conversation itself/);
  });

  await t.test("the headline, the table and the pane say what the program says", async (t) => {
    const tab = await open(t);
    await play(tab, "rollout-codex-long.jsonl", codex);
    const folder = await project("page-session");
    await writeFile(join(folder, "rollout-codex-long.jsonl"), codex);
    const { stdout } = await run(
      "node",
      [join(folder, "node_modules/contextweaver/bin/contextweaver.js"), "audit", "rollout-codex-long.jsonl", "--budgets", "32000", "--json"],
      { cwd: folder },
    );
    const { total, models } = JSON.parse(stdout);
    const dollars = (cost) => (cost * models[0].price.input) / 1e6;
    const of = (name) => dollars(total.strategies.find((each) => each.name === name).cost);
    assert.equal(await tab.textContent("#headline"), `47 model calls: $${of("contextweaver").toFixed(2)} instead of $${dollars(total.cost).toFixed(2)}.`);
    await shows(tab, "#counted", new RegExp(`Trimming the oldest instead: \\$${of("newest").toFixed(2)}`));
    const { shown } = total.strategies[0];
    const there = shown === total.copied ? `Every copied value was there: ${shown} of ${shown}` : `${shown} of ${total.copied} stood in the prompt`;
    await shows(tab, "#counted", new RegExp(there));
    await openTable(tab);
    const cells = async (column) => (await tab.locator(`#as-table tbody tr td:nth-child(${column})`).allTextContents()).map((text) => figuresOf(text)[0] ?? 0);
    const [sent, repeated, rewritten, fresh] = await Promise.all([2, 3, 4, 5].map(cells));
    assert.equal(sent.length, 47);
    sent.forEach((tokens, at) => assert.equal(repeated[at] + rewritten[at] + fresh[at], tokens));
    const [ours, everything, trimming] = (await Promise.all([7, 8, 9].map(cells))).map((list) => list.reduce((sum, each) => sum + each, 0));
    for (const [shown, expected] of [
      [ours, of("contextweaver")],
      [everything, dollars(total.cost)],
      [trimming, of("newest")],
    ])
      assert.ok(Math.abs(shown - expected) < 47 * 0.00005, `${shown} ${expected}`);
    assert.ok((await cells(2)).every((tokens) => tokens <= 32_000));
  });
});

test("Page: the tape is the control", async (t) => {
  const { open } = (await prepare(t)) ?? {};
  if (!open) return;

  await t.test("arrows lead from call to call, with Shift from cut to cut, Enter to the prompt", async (t) => {
    const tab = await open(t);
    await play(tab, "codex.jsonl", codex);
    await shows(tab, "#call-title", /Call 14 of 47: a cut/);
    const value = () => tab.getAttribute("#tape", "aria-valuetext");
    await tab.focus("#tape");
    assert.match(await value(), /^Call 14 of 47, a cut, 0 repeated, 2,914 new, 11,916 rewritten, \$0\.0\d+$/);
    for (const [key, expected] of [
      ["Shift+ArrowRight", 26],
      ["ArrowLeft", 25],
      ["Shift+ArrowLeft", 14],
      ["Home", 1],
      ["ArrowRight", 2],
      ["End", 47],
      ["ArrowRight", 47],
    ]) {
      await tab.keyboard.press(key);
      await until(() => tab.getAttribute("#tape", "aria-valuenow"), new RegExp(`^${expected}$`));
      await shows(tab, "#call-title", new RegExp(`Call ${expected} of 47`));
    }
    await addressed(tab, /call=47/);
    await tab.keyboard.press("Enter");
    await until(() => tab.evaluate(() => document.activeElement.id), /^call-title$/);
    await tab.click("#cut-before");
    await shows(tab, "#call-title", /Call 41 of 47: a cut/);
    assert.ok(await tab.locator("#cut-after").isDisabled());
    await tab.locator('#tape [data-call="5"] .rep').click();
    await shows(tab, "#call-title", /Call 5 of 47$/);
    await tab.locator("#cuts tbody .link").nth(1).click();
    await shows(tab, "#call-title", /Call 26 of 47: a cut/);
    await until(() => tab.evaluate(() => document.activeElement.id), /^call-title$/);
  });

  await t.test("columns are linear from zero, and their parts add up", async (t) => {
    const tab = await open(t);
    await openTable(tab);
    const sent = (await tab.locator("#as-table tbody tr td:nth-child(2)").allTextContents()).map((text) => figuresOf(text)[0]);
    const drawn = await tab.evaluate(() =>
      [...document.querySelectorAll("#tape [data-call]")].map((column) =>
        ["rep", "rew", "new"].reduce((sum, name) => sum + Number(column.querySelector(`.${name}`)?.getAttribute("height") ?? 0), 0),
      ),
    );
    assert.equal(drawn.length, sent.length);
    const unit = drawn[0] / sent[0];
    drawn.forEach((height, at) => assert.ok(Math.abs(height / unit - sent[at]) < sent[at] * 0.02 + 2, `${at}: ${height / unit} ${sent[at]}`));
  });

  await t.test("a cut says why, what it costs, when it is paid back, and what became of what left", async (t) => {
    const tab = await open(t);
    await play(tab, "codex.jsonl", codex);
    await shows(tab, "#call-why", /^Why: 29,548 \+ 2,914 would not fit into 32,000\.$/);
    await shows(tab, "#call-cut", /dearer than going on, and saves \$0\.\d+ a call: paid back at call 20\./);
    await shows(tab, "#left-here", /left here: \d+ messages, [\d,]+ tokens/);
    await tab.click("#cut-after");
    await shows(tab, "#call-title", /Call 26/);
    await shows(tab, "#left-here", /its handle stands there; drilldown reads on by artifact:result:call_\d+_0/);
    await tab.locator("#left-here .piece summary").first().click();
    await shows(tab, "#left-here .before-after", /Before.*After.*drilldown artifact:result:call/s);
    await shows(tab, ".run.rewritten summary", /rewritten [\d,]+/);
    // Repeated runs are folded, and open.
    await tab.click("#call-after");
    await shows(tab, "#call-title", /Call 27 of 47$/);
    const folded = tab.locator(".run.repeated").first();
    assert.equal(await folded.locator(".piece").count(), 0);
    await folded.locator("summary").first().click();
    await until(async () => String((await folded.locator(".piece").count()) > 3), /true/);
    await shows(tab, "#cuts", /it was full.*a shorter prompt pays for itself/s);
  });

  await t.test("many calls share columns, and cuts keep their own", async (t) => {
    const tab = await open(t);
    await play(tab, "many.jsonl", lines(chat(900, 20)));
    await shows(tab, "#headline", /901 model calls/);
    const columns = await tab.locator("#tape [data-call]").count();
    assert.ok(columns <= 400 && columns > 200, `${columns}`);
    assert.equal(await tab.locator("#tape .mark").count(), await tab.locator("#cuts tbody tr").count());
    await tab.focus("#tape");
    await tab.keyboard.press("Home");
    for (let i = 0; i < 3; i += 1) await tab.keyboard.press("ArrowRight");
    await shows(tab, "#call-title", /Call 4 of 901/);
    await tab.setViewportSize(PHONE);
    await until(async () => String((await tab.locator("#tape [data-call]").count()) <= 85), /true/);
    await fits(tab);
  });
});

test("Page: states that are said as they are", async (t) => {
  const { open } = (await prepare(t)) ?? {};
  if (!open) return;
  const cases = {
    "everything fits": { text: requests(chat(4, 60)), headline: /^[\d,]+ tokens fit into 8,000: nothing was cut\. The same price as without contextweaver\.$/ },
    "one call": { text: requests(chat(0, 0)), headline: /^1 call: nothing repeats yet\.$/ },
    "no price": {
      text: requests(chat(40, 300), { model: "house-model-7" }),
      headline: /^41 model calls: [\d,]+ instead of [\d,]+ tokens at full price\.$/,
      about: /No price is known for this model: tokens/,
    },
    dearer: { text: requests(chat(15, 200)), budget: 8_000, headline: /^16 model calls: \+\$0\.00\d+ \(1 %\): the session ended 1 call behind a cut\.$/ },
    "the provider's counts": {
      text: requests(chat(4, 60), {
        usage: (n) => ({ prompt_tokens: 7410 + 400 * n, prompt_tokens_details: { cached_tokens: n * 1024 }, completion_tokens: 20 }),
      }),
      call: /The provider counted 9,010, we expected [\d,]+\./,
      ticks: true,
    },
  };
  for (const [what, { text, headline, about, budget, call, ticks }] of Object.entries(cases)) {
    await t.test(what, async (t) => {
      const tab = await open(t);
      await play(tab, "log.jsonl", text);
      if (budget) {
        await tab.fill("#tape-budget", String(budget));
        await tab.press("#tape-budget", "Enter");
      }
      if (headline) await shows(tab, "#headline", headline);
      if (about) await shows(tab, "#counted", about);
      if (call) await shows(tab, "#call-counted", call);
      if (ticks) assert.ok((await tab.locator("#tape .counted").count()) > 2);
    });
  }

  await t.test("no cache at the provider", async (t) => {
    const tab = await open(t);
    await play(tab, "chat.jsonl", lines(chat(40, 300)));
    await tab.selectOption("#prices", "none");
    await shows(tab, "#headline", /No cache at this provider: each call pays in full, so it is compiled anew/);
    assert.equal(await tab.locator("#tape .mark").count(), 0);
    assert.ok((await tab.locator("#tape .rew").count()) > 3);
    await tab.selectOption("#prices", "gpt-5");
    await shows(tab, "#headline", /41 model calls: \$0\.\d+ instead of \$0\.\d+/);
    await addressed(tab, /prices=gpt-5/);
  });

  await t.test("no call of a model: one prompt", async (t) => {
    const tab = await open(t);
    await choose(
      tab,
      "context",
      "notes.jsonl",
      '{"id":"u1","kind":"user_turn","text":"Where is order 7?"}\n{"id":"d1","kind":"doc_snippet","text":"Orders are kept for a year."}',
    );
    await shows(tab, "#no-calls", /^No model call in this file: one prompt\.$/);
    await shows(tab, "#prompt-headline", /fit into|tokens/);
  });

  await t.test("a file that is none of ours, and a budget that is none", async (t) => {
    const tab = await open(t);
    const before = await tab.textContent("#headline");
    await choose(tab, "context", "server.log", '{"level":"info","msg":"listening"}\n');
    await shows(tab, "#context-problems", /server\.log was not loaded\.\nThis is a log of a server; we read sessions of Claude Code, Codex/);
    assert.equal(await tab.textContent("#headline"), before);
    assert.doesNotMatch(await tab.textContent("body"), /Loading|cargo xtask/);
    await tab.fill("#tape-budget", "12");
    await tab.press("#tape-budget", "Enter");
    await shows(tab, "#tape-budget-refused", /whole number from 1,000 to 10,000,000; it stays at 8,000/);
  });

  await t.test("several conversations in one log", async (t) => {
    const tab = await open(t);
    const other = chat(2, 40).map((message) => ({ ...message, ...(message.role === "user" && { content: "Another question." }) }));
    await play(tab, "two.jsonl", `${requests(chat(5, 60))}\n${requests(other)}`);
    await shows(tab, "#context-status", /6 calls in the longest of 2 conversations/);
    await tab.selectOption("#conversation", "1");
    await shows(tab, "#call-title", /Call 3 of 3/);
  });
});

test("Page: the tape for every eye, and on paper", async (t) => {
  const { open } = (await prepare(t)) ?? {};
  if (!open) return;

  await t.test("at every size, light and dark, nothing is cut off", async (t) => {
    for (const [name, viewport] of Object.entries({ 1440: WIDE, 1280: DESKTOP, 390: PHONE })) {
      for (const colorScheme of ["light", "dark"]) {
        // In Firefox taking the picture brings a style of its own, which the policy of the page forbids.
        const tab = await open(t, { viewport, colorScheme, ...(inFirefox && { expected: /style-src-elem/ }) });
        await shows(tab, "#call-title", /a cut/);
        await picture(tab, `session-${name}-${colorScheme}`);
        await fits(tab);
      }
    }
  });

  await t.test("in the colours of the system, by outline, fill and hatch", { skip: inFirefox && "Firefox has no switch for it here" }, async (t) => {
    const tab = await open(t, { forcedColors: "active" });
    await shows(tab, "#call-title", /a cut/);
    const of = (selector, property) =>
      tab.evaluate(([selector, property]) => getComputedStyle(document.querySelector(selector))[property], [selector, property]);
    const [page, repeated, edge, fresh, rewritten] = await Promise.all([
      of("body", "backgroundColor"),
      of(".tape .rep", "fill"),
      of(".tape .rep", "stroke"),
      of(".tape .new", "fill"),
      of(".tape .rew", "stroke"),
    ]);
    assert.equal(repeated, page);
    assert.notEqual(edge, page);
    assert.notEqual(fresh, page);
    assert.notEqual(rewritten, page);
    await picture(tab, "session-forced-colours");
  });

  await t.test("repeated, new and rewritten differ in grey", async () => {
    const css = await readFile(join(root, "www", "style", "tokens.css"), "utf8");
    const [light, dark] = css.split("prefers-color-scheme: dark");
    for (const scheme of [light, dark]) {
      const grey = (name) => {
        const [r, g, b] = [1, 3, 5]
          .map((at) => Number.parseInt(new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(scheme)[1].slice(at, at + 2), 16) / 255)
          .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
        return 116 * Math.cbrt(0.2126 * r + 0.7152 * g + 0.0722 * b) - 16;
      };
      assert.ok(Math.abs(grey("repeated") - grey("accent")) >= 25, `${grey("repeated")} ${grey("accent")}`);
      assert.ok(Math.abs(grey("repeated") - grey("out")) >= 25);
    }
  });

  await t.test("axe finds nothing, with a table open", { skip: inFirefox && "it says the same in either browser" }, async (t) => {
    const tab = await open(t);
    await openTable(tab);
    await accessible(tab);
  });

  await t.test("on paper: light, all cuts, no panes and no buttons", { skip: inFirefox && "it says the same in either browser" }, async (t) => {
    const tab = await open(t, { colorScheme: "dark" });
    await play(tab, "codex.jsonl", codex);
    await shows(tab, "#headline", /47 model calls/);
    await tab.emulateMedia({ media: "print", colorScheme: "light" });
    const seen = await tab.evaluate(() =>
      ["#tape", "#cuts", ".call-side", ".steps", ".sources", "#tape-budget"].map((selector) => document.querySelector(selector)?.checkVisibility() ?? false),
    );
    assert.deepEqual(seen, [true, true, false, false, false, false]);
    assert.equal(await tab.locator("#cuts tbody tr").count(), 4);
    await picture(tab, "session-print", { fullPage: true });
  });

  await t.test("the skip link moves nothing, and its click counts", async (t) => {
    const tab = await open(t);
    const top = () => tab.evaluate(() => document.querySelector("h1").getBoundingClientRect().top);
    const before = await top();
    await tab.keyboard.press("Tab");
    assert.equal(await tab.evaluate(() => document.activeElement.id), "skip");
    assert.equal(await top(), before);
    await tab.click("#skip");
    assert.equal(await tab.evaluate(() => document.activeElement.id), "page");
    assert.equal(await tab.evaluate(() => location.hash), "");
  });

  await t.test("on a phone the buttons stand at the bottom, 44 pixels high, and the sums are bars", async (t) => {
    const tab = await open(t, { viewport: PHONE });
    await shows(tab, "#call-title", /a cut/);
    const boxes = await tab.evaluate(() =>
      [...document.querySelectorAll(".steps button")].map((node) => node.getBoundingClientRect()).map(({ height, width, bottom }) => [height, width, bottom]),
    );
    for (const [height, width, bottom] of boxes)
      assert.ok(height >= 44 && width >= 44 && bottom <= PHONE.height && bottom > PHONE.height - 80, `${height} ${width} ${bottom}`);
    assert.equal(await tab.locator(".money-bars rect").count(), 3);
    assert.equal(await tab.locator("#tape .line-ours").count(), 0);
    await tab.click("#cut-after");
    await shows(tab, "#call-title", /Call 38/);
  });
});
