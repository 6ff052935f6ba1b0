// Reports: one file with the views of a build, written by the installed package.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { chromium, has, launchChromium, project, root } from "./harness.mjs";
import { fits, shows, until } from "./page.mjs";

const SECRET = "ghp_1234567890abcdefghijABCDEFGHIJ123456";
const HOSTILE = `</script><script>top.pwned = 1</script><img src=x onerror="top.pwned = 2">\u202e\u001b[31m$&$1 %REPORT%`;
const folder = await project("report");
const entry = (name) => import(pathToFileURL(join(folder, "node_modules", "contextweaver", "dist", "node", `${name}.js`)).href);
const cw = await entry("index");
const { htmlReport } = await entry("report");
const log = (await readFile(join(root, "examples/sessions/shop.jsonl"), "utf8"))
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const { query } = JSON.parse(await readFile(join(root, "examples/sessions/shop.meta.json"), "utf8")).queries.answer;
const AS_GIVEN = { firewall: { threshold_tokens: 2 ** 24 } };
const shop = (options = {}) => {
  const manager = new cw.ContextManager({ ...AS_GIVEN, ...options });
  manager.ingestAll(log);
  return manager;
};
const dataOf = (html) => JSON.parse(/<script type="application\/json" id="report">(.*?)<\/script>/s.exec(html)[1]);

test("a report is of the very build, and what would have kept an item is true", async () => {
  const manager = shop();
  const html = await manager.report({ format: "html", phase: "answer", query, budget_tokens: 6000, what_if: 5 });
  assert.equal(manager.stats().total_builds, 1, "trials are on a copy");
  const report = dataOf(html);
  const { stats, explanation } = manager.build({ phase: "answer", query, budget_tokens: 6000, explain: true });
  assert.equal(report.view.prompt_tokens, stats.prompt_tokens);
  assert.equal(report.view.included, stats.included_count);
  assert.equal(report.rows.length, log.length);
  for (const { item_id, included, score } of explanation.candidates) {
    const row = report.rows.find(({ label }) => label === item_id);
    assert.equal(row.state !== "dropped", included, item_id);
    assert.equal(row.score, score, item_id);
  }
  assert.equal(Object.keys(report.whys).length, 5);
  for (const [place, { budget }] of Object.entries(report.whys)) {
    const isIn = (budget_tokens) => manager.build({ phase: "answer", query, budget_tokens }).items.some(({ id }) => id === log[place].id);
    assert.deepEqual([isIn(budget - 1), isIn(budget)], [false, true], log[place].id);
  }
  manager.free();
});

test("a report shows, byte for byte, the prompt that is sent", async () => {
  const manager = shop();
  const { pages } = dataOf(await manager.report({ format: "html", phase: "answer", query, budget_tokens: 6000 }));
  const sent = Buffer.from(manager.build({ phase: "answer", query, budget_tokens: 6000 }).prompt);
  let end = 0;
  for (const piece of pages.flatMap(({ pieces }) => pieces)) {
    // Between sections stand empty lines alone; a letter that would be invisible is shown by its number.
    assert.match(sent.subarray(end, piece.start).toString(), /^\n*$/);
    assert.equal(
      piece.text,
      cw.sanitizeText(
        sent
          .subarray(piece.start, piece.end)
          .toString()
          .replace(/^\n+|\n+$/g, ""),
      ),
      piece.label,
    );
    end = piece.end;
  }
  assert.equal(end, sent.length);
  manager.free();
});

test("a report lists the rules in force, with why, and what became of others", async (t) => {
  const manager = shop();
  manager.ingest({ id: "r1", kind: "user_turn", text: "Never restart the checkout without me. Refunds above 200 euros go to me first." });
  manager.ingest({ id: "r2", kind: "user_turn", text: "From now on only refunds above 350 euros go to me first." });
  manager.ingest({ id: "r3", kind: "user_turn", text: `Never use the key ${SECRET}. <img src=x onerror="top.pwned = 2">` });
  manager.addRule({ text: "Answer in one sentence." });
  const html = await manager.report({ format: "html", phase: "answer", query });
  const { rules } = dataOf(html);
  const of = (id) => rules.find((rule) => rule.id === id);
  assert.deepEqual([of("r1#1").state, of("r1#1").why, of("r1#1").label, of("r1#1").place], ["in_force", 'says "Never"', "r1", log.length]);
  assert.deepEqual([of("r1#2").state, of("r1#2").replacedBy, of("r2#1").replaces], ["replaced", "r2#1", ["r1#2"]]);
  assert.deepEqual([of("rule:0").why, of("rule:0").place], ["added by the caller", null]);
  assert.ok(!html.includes(SECRET));
  assert.deepEqual(dataOf(await shop({ rules: false }).report({ format: "html", phase: "answer", query })).rules, []);
  if (!has(t, chromium.path, chromium)) return;
  const file = join(folder, "rules.html");
  await writeFile(file, html);
  const browser = await launchChromium(t);
  const tab = await browser.newPage();
  await tab.goto(pathToFileURL(file).href);
  await tab.click("#view-tab-rules");
  await shows(tab, "#rules", /rules in force.*Never restart the checkout without me.*says "Never"/s);
  await tab.locator("#rules .link", { hasText: "r1" }).first().click();
  await shows(tab, "#item", /Refunds above 200 euros/);
  manager.free();
});

test("htmlReport and report write the same, twice the same", async () => {
  const manager = shop();
  const options = { phase: "interpret", query, what_if: 1 };
  const first = await htmlReport(manager, options);
  assert.equal(await manager.report({ format: "html", ...options }), first);
  const all = await Promise.all([htmlReport(manager, options), htmlReport(manager, { ...options, phase: "route" }), htmlReport(manager, options)]);
  assert.deepEqual([all[0] === first, all[2] === first, dataOf(all[1]).phase], [true, true, "route"]);
  manager.free();
});

test("a report has no secret and no withheld text, and is one file under its own policy", async () => {
  const manager = new cw.ContextManager({ redact_secrets: false, policy: { sensitivity_floor: "internal" } });
  manager.ingestAll([
    { id: `u1 ${SECRET}`, kind: "user_turn", text: `the key is ${SECRET} ${HOSTILE}` },
    { id: "s1", kind: "user_turn", text: "the payroll", sensitivity: "restricted" },
    { id: "i1", kind: "user_turn", text: "the roadmap", sensitivity: "internal" },
    { id: "c1", kind: "tool_call", text: "the merger", sensitivity: "internal" },
  ]);
  manager.ingestToolResult({ tool_call_id: "c1", tool_name: "read", raw_output: `salaries ${SECRET}`, sensitivity: "confidential" });
  for (const phase of ["route", "answer"]) {
    const html = await manager.report({ format: "html", phase, query: `what is ${SECRET}`, title: HOSTILE });
    for (const text of [SECRET, "payroll", "roadmap", "merger", "salaries"]) assert.ok(!html.includes(text), `${phase}: ${text}`);
    assert.equal(dataOf(html).title, HOSTILE);
    const markup = html.replace(/(<(script|style)\b[^>]*>).*?<\/\2>/gs, "$1");
    assert.deepEqual(
      [...markup.matchAll(/<([a-z]+)/g)].map(([, tag]) => tag).join(" "),
      "html head meta meta meta meta title style body div p footer p script script".replace("meta meta meta meta title", "meta title meta meta meta meta"),
    );
    assert.doesNotMatch(markup, /\b(?:src|href)=|url\(/);
    const [, policy] = /Content-Security-Policy" content="([^"]+)"/.exec(html);
    assert.match(policy, /^default-src 'none'; script-src 'sha256-[\w+/=]+'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'$/);
    for (const [tag, pattern] of [
      ["script", /<script type="module">(.*?)<\/script>/s],
      ["style", /<style>(.*?)<\/style>/s],
    ]) {
      const hash = createHash("sha256").update(pattern.exec(html)[1]).digest("base64");
      assert.ok(policy.includes(`${tag}-src 'sha256-${hash}'`), tag);
    }
    assert.equal(html.match(/<\/script>/g).length, 2);
  }
  manager.free();
});

test("a budget that is too small is reported, and so is a prompt that goes on with the one before", async () => {
  const manager = shop();
  const none = dataOf(await manager.report({ format: "html", phase: "answer", budget_tokens: 5 }));
  assert.equal(none.view.problem.code, "BUDGET_EXCEEDED");
  assert.deepEqual(none.pages, []);
  manager.free();
  const grows = shop();
  const report = dataOf(await grows.report({ format: "html", phase: "answer", query, budget_tokens: 6000, running: true }));
  assert.equal(report.view.running.cut, "first");
  assert.deepEqual(report.whys, {});
  grows.free();
  // A function of the caller's decides; the copy would not.
  const scored = shop({ item_scores: () => ({ i029: 1 }) });
  const own = dataOf(await scored.report({ format: "html", phase: "answer", query, budget_tokens: 6000 }));
  assert.equal(own.rows.find(({ label }) => label === "i029").state, "kept");
  assert.deepEqual(own.whys, {});
  scored.free();
});

test("what is wrong with the options of a report is said, and nothing is built", async () => {
  const manager = shop();
  for (const [options, code, path] of [
    [{ phase: "answer" }, "MISSING_FIELD", "/format"],
    [{ format: "pdf", phase: "answer" }, "INVALID_INPUT", "/format"],
    [{ format: "html", phase: "nope" }, "INVALID_INPUT", "/phase"],
    [{ format: "html", phase: "answer", what_if: -1 }, "OUT_OF_RANGE", "/what_if"],
    [{ format: "html", phase: "answer", what_if: 201 }, "OUT_OF_RANGE", "/what_if"],
    [{ format: "html", phase: "answer", title: 1 }, "INVALID_INPUT", "/title"],
    [{ format: "html", phase: "answer", querry: "x" }, "UNKNOWN_FIELD", "/querry"],
    [undefined, "MISSING_FIELD", "/format"],
  ]) {
    await assert.rejects(manager.report(options), (error) => {
      assert.deepEqual([error.code, error.path], [code, path], JSON.stringify(options));
      return true;
    });
  }
  assert.equal(manager.stats().total_builds, 0);
  manager.free();
});

test("a report opens from the disk, asks for nothing and shows every view", async (t) => {
  if (!has(t, chromium.path, chromium)) return;
  const browser = await launchChromium(t);
  const manager = shop();
  manager.ingest({ id: "hostile", kind: "user_turn", text: HOSTILE });
  const file = join(folder, "report.html");
  await writeFile(file, await manager.report({ format: "html", phase: "answer", query, budget_tokens: 6000, title: HOSTILE, what_if: 3 }));
  manager.free();
  for (const [width, colorScheme] of [
    [1280, "light"],
    [390, "dark"],
  ]) {
    const context = await browser.newContext({ viewport: { width, height: 844 }, colorScheme, offline: true });
    const tab = await context.newPage();
    const problems = [];
    tab.on("pageerror", (error) => problems.push(String(error)));
    tab.on("console", (message) => ["error", "warning"].includes(message.type()) && problems.push(message.text()));
    tab.on("request", (request) => request.url() !== pathToFileURL(file).href && problems.push(request.url()));
    await tab.goto(pathToFileURL(file).href);
    await shows(tab, "#headline", /tokens/);
    await shows(tab, "#why-answer", /from [\d,]+ tokens on.*Pin:/);
    await until(() => tab.locator(".list").first().getAttribute("aria-rowcount"), /^141$/);
    await tab.selectOption("#show", "sensitivity");
    await until(() => tab.locator(".list").first().getAttribute("aria-rowcount"), /^2$/);
    await tab.locator(".list-body .row").first().click();
    await shows(tab, "#item", /Text withheld/);
    await tab.selectOption("#show", "kept");
    await tab.locator(".list-body .row").nth(3).click();
    await tab.click("#item button:has-text('Show in the prompt')");
    await shows(tab, "#prompt", /POLICY|\w/);
    assert.equal(await tab.locator("button:has-text('Pin it'), button:has-text('Look into'), button:has-text('Set answer')").count(), 0);
    await tab.click("#view-tab-item");
    await tab.selectOption("#show", "all");
    await tab.focus(".list");
    await tab.keyboard.press("End");
    await shows(tab, "#item", /hostile/);
    await fits(tab);
    assert.deepEqual(await tab.evaluate(() => [globalThis.pwned, document.querySelectorAll("img, iframe").length, document.scripts.length]), [undefined, 0, 2]);
    assert.deepEqual(problems, []);
    await context.close();
  }
});
