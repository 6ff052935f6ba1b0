// The tab of decisions: asking a memory, its guardrails, its calibration and its links.
import assert from "node:assert/strict";
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { packageDir, project, root, run } from "./harness.mjs";
import { addressed, choose, prepare, shows, until } from "./page.mjs";

const cw = await import(pathToFileURL(join(packageDir, "dist", "index.js")).href);
const SAMPLE = join(root, "examples", "decisions", "lumen-shop.json");
const sample = await readFile(SAMPLE, "utf8");
const LOADED = ["#memory-status", /45 decisions, 43 with an outcome, 3 guardrails/];
const stored = () => {
  const store = new cw.DecisionStore();
  store.import(sample);
  return store;
};
const asked = async (store, name, args) => (await store.callTool(name, args)).structuredContent;

test("the memory of the page is what its script records", async () => {
  const folder = await project("decisions-sample");
  await cp(join(root, "examples", "decisions", "record.mjs"), join(folder, "record.mjs"));
  assert.equal((await run("node", ["record.mjs"], { cwd: folder })).stdout, sample);
});

test("Page: decisions", async (t) => {
  const { open } = (await prepare(t)) ?? {};
  if (!open) return;

  await t.test("finds similar decisions as the package does, with the parts of their scores", async (t) => {
    const tab = await open(t, { fragment: "#tab=decisions", first: LOADED });
    const store = stored();
    for (const [mode, query] of [
      ["hybrid", "retry a payment that failed"],
      ["semantic", "deploy before the weekend"],
      ["keyword", "invoice numbers"],
    ]) {
      await tab.fill("#decision-query", query);
      await tab.selectOption("#decision-mode", mode);
      const { decisions, scores } = await asked(store, "query_decisions", { query, limit: 8, retrieval_mode: mode });
      assert.ok(decisions.length > 2, query);
      const records = new Map(JSON.parse(sample).decisions.map((record) => [record.id, record]));
      const titles = decisions.map(({ id }) => records.get(id).decision);
      await until(async () => (JSON.stringify(await tab.locator(".ranking .link").allTextContents()) === JSON.stringify(titles) ? "same" : ""), /same/);
      const shown = (await tab.locator(".ranking .score").allTextContents()).map((text) => text.match(/[\d.]+/g).map(Number));
      // They stand in the order of what is shown, and the parts are the whole.
      assert.deepEqual(
        shown.map(([score]) => score),
        shown.map(([score]) => score).sort((a, b) => b - a),
      );
      for (const [at, [score, meaning, words]] of shown.entries()) {
        assert.ok(Math.abs(score - meaning - words) < 0.011, `${titles[at]}: ${shown[at]}`);
        const { id, superseded } = decisions[at];
        assert.ok(Math.abs(score - scores[id].combined * (superseded ? 0.5 : 1)) < 0.006, titles[at]);
      }
    }
    await tab.fill("#decision-query", "retry a payment that failed");
    await tab.selectOption("#decision-mode", "hybrid");
    await shows(tab, ".ranking", /Retry failed payments.*replaced: counts half/);
    await tab.selectOption("#decision-category", "security");
    await until(
      async () => [...new Set((await tab.locator(".ranking .quiet:text-matches('sure')").allTextContents()).map((text) => text.split(",")[0]))].join(),
      /^security$/,
    );
    await addressed(tab, /dcat=security/);
    store.free();
  });

  await t.test("shows a decision, and its links lead on", async (t) => {
    const tab = await open(t, { fragment: "#tab=decisions", first: LOADED });
    await tab.locator(".ranking .link:has-text('Retry only payments that timed out')").click();
    await shows(tab, "#decision", /Retry only payments that timed out.*80 %.*high.*integration.*empirical.*Learned/s);
    await shows(tab, "#decision .links", /replaces Retry failed payments.*depends on Give every payment/s);
    await tab.click("#decision .links .link:has-text('idempotency')");
    await shows(tab, "#decision", /Give every payment an idempotency key.*needed by Retry only/s);
    await tab.click("#decision summary");
    assert.equal(JSON.parse(await tab.textContent("[aria-label='Whole record of the decision']")).decision, "Give every payment an idempotency key");
  });

  await t.test("checks an action against every rule", async (t) => {
    const tab = await open(t, { fragment: "#tab=decisions&dview=guardrails", first: ["#allowed", /must not be done/] });
    const store = stored();
    const said = () => tab.locator(".findings .badge").allTextContents();
    for (const [category, stakes, sure] of [
      ["integration", "critical", 60],
      ["integration", "critical", 80],
      ["security", "high", 40],
      ["security", "low", 100],
      ["", "critical", 0],
    ]) {
      await tab.selectOption("#action-category", category);
      await tab.selectOption("#stakes", stakes);
      await tab.fill("#sure", String(sure));
      const { allowed, violations, warnings } = await asked(store, "check_action", {
        description: "Charge the card again",
        ...(category && { category }),
        stakes,
        confidence: sure / 100,
      });
      const expected = ["unsure-and-critical", "unsure-and-high", "security-review"].map((id) =>
        violations.some((each) => each.guardrailId === id) ? "blocks" : warnings.some((each) => each.guardrailId === id) ? "warns" : "does not apply",
      );
      await until(async () => (await said()).join("|"), new RegExp(`^${expected.join("\\|")}$`));
      await shows(tab, "#allowed", allowed ? /^It may be done/ : /must not/);
    }
    await tab.fill("#sure", "101");
    await shows(tab, ".number-field .wrong", /from 0 to 100; 60 counts until then/);
    await tab.fill("#action", "");
    await shows(tab, "#guardrails", /Nothing to check/);
    store.free();
  });

  await t.test("plots what came of confidence, and says the same as a table", async (t) => {
    const tab = await open(t, { fragment: "#tab=decisions&dview=calibration", first: ["#calibration-verdict", /16 % less often right than sure/] });
    const store = stored();
    const { overall, extended } = await asked(store, "get_stats", { window: "all", min_decisions: 1 });
    const rows = await tab.evaluate(() =>
      [...document.querySelectorAll("#calibration tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent)),
    );
    const percent = (share) => `${Math.round(share * 100)} %`;
    assert.deepEqual(
      rows.map(([said, came, , many]) => [said, came, many]),
      extended.bins.map((bin) => [percent(bin.meanConfidence), percent(bin.successRate), String(bin.decisions)]),
    );
    await shows(tab, "#calibration dl", new RegExp(`${percent(overall.accuracy)}.*${overall.brierScore.toFixed(3)}`, "s"));
    // Every dot is where its figures are, on the scale of the axes.
    const dots = await tab.evaluate(() => {
      const ideal = document.querySelector(".reliability .ideal");
      const [x0, y0, x1, y1] = ["x1", "y1", "x2", "y2"].map((name) => Number(ideal.getAttribute(name)));
      return [...document.querySelectorAll(".reliability circle")].map((dot) => [
        (dot.getAttribute("cx") - x0) / (x1 - x0),
        (dot.getAttribute("cy") - y0) / (y1 - y0),
      ]);
    });
    assert.deepEqual(
      dots.map((dot) => dot.map((share) => share.toFixed(3))),
      extended.bins.map(({ meanConfidence, successRate }) => [meanConfidence.toFixed(3), successRate.toFixed(3)]),
    );
    store.free();
  });

  await t.test("draws every link, and lists it", async (t) => {
    const tab = await open(t, { fragment: "#tab=decisions&dview=graph", first: ["#graph-count", /29 decisions with 17 links; 16 without a link/] });
    const { edges } = JSON.parse(sample);
    assert.equal(await tab.locator("svg.graph:not(.key) .edge").count(), edges.length);
    assert.equal(await tab.locator(".links[aria-label=Links] > li").count(), edges.length);
    await tab.locator(".graph .dot").first().click();
    await shows(tab, "#decision", /2025-01/);
    await tab.locator(".links .link").first().focus();
    await tab.keyboard.press("Enter");
    await shows(tab, "#decision", /Send order mails from a queue/);
    assert.equal(await tab.locator(".graph .dot.selected").count(), 1);
  });

  await t.test("takes a memory of one's own, and says what is not in it", async (t) => {
    const tab = await open(t, { fragment: "#tab=decisions", first: LOADED });
    for (const [content, problem] of [
      ["{", /not valid JSON|not/],
      ["[]", /no decision/],
      ['{"a":1}', /missing field `id`/],
      ['{"format":"cstp-snapshot","version":1,"decisions":[]}', /no decision/],
    ]) {
      await choose(tab, "memory", "bad.json", content);
      await shows(tab, "#memory-problems", problem);
      await shows(tab, ...LOADED);
    }
    const hostile = "<img src=x onerror='top.pwned=1'>\u202e ghp_1234567890abcdefghijABCDEFGHIJ123456";
    const own = new cw.DecisionStore({ clock: () => 0 });
    await own.callTool("log_decision", { decision: hostile, confidence: 0.5, category: "process", tags: ["constructor"] });
    await choose(tab, "memory", "own.json", JSON.stringify(own));
    own.free();
    await shows(tab, "#memory-status", /^own\.json: 1 decision, 0 with an outcome, 0 guardrails/);
    await tab.fill("#decision-query", "img");
    await tab.locator(".ranking .link").first().click();
    await shows(tab, "#decision", /<img src=x/);
    await tab.click("#decision summary");
    await tab.click("#dview-tab-guardrails");
    await shows(tab, "#guardrails", /no guardrails/);
    await tab.click("#dview-tab-calibration");
    await shows(tab, "#no-outcomes", /No decision has an outcome yet/);
    await tab.click("#dview-tab-graph");
    await shows(tab, "#no-links", /No two decisions/);
    const found = await tab.evaluate(() => ({ pwned: globalThis.pwned, images: document.querySelectorAll("img").length, text: document.body.textContent }));
    assert.deepEqual([found.pwned, found.images], [undefined, 0]);
    assert.doesNotMatch(found.text, /ghp_|\u202e/);
    await tab.click("#dview-tab-ask");
    await tab.fill("#decision-query", " ");
    await shows(tab, "#no-decision-query", /Nothing to compare with/);
    await addressed(tab, /memory=own/);
    await tab.reload();
    await shows(tab, ...LOADED);
    await shows(tab, "#memory-lost", /is gone/);
  });

  await t.test("opened offline, it recovers", async (t) => {
    const tab = await open(t, { expected: /ERR_INTERNET_DISCONNECTED/ });
    await tab.context().setOffline(true);
    await tab.evaluate(() => (document.getElementById("more").open = true));
    await tab.click("#tab-tab-decisions");
    await shows(tab, "#memory-problems", /The sample was not loaded/);
    await tab.context().setOffline(false);
    await shows(tab, ...LOADED);
    await shows(tab, "#decision-count", /similar/);
  });

  await t.test("on a phone, details stand where they were asked for", async (t) => {
    const tab = await open(t, { fragment: "#tab=decisions", first: LOADED, viewport: { width: 390, height: 844 } });
    await tab.locator(".ranking .link").nth(3).click();
    await shows(tab, ".ranking li.selected #decision", /When/);
    assert.equal(await tab.locator("#decision").count(), 1);
  });
});
