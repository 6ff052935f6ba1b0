// The tab of tools: choosing, browsing, linting and comparing recorded catalogs.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { packageDir, root } from "./harness.mjs";
import { addressed, choose, prepare, shows, until } from "./page.mjs";

const cw = await import(pathToFileURL(join(packageDir, "dist", "index.js")).href);
const catalog = async (server) => JSON.parse(await readFile(join(root, "examples", "catalogs", `${server}.json`), "utf8"));
const LOADED = ["#tools-status", /232 tools/];

test("Page: tools", async (t) => {
  const { open } = (await prepare(t)) ?? {};
  if (!open) return;

  await t.test("ranks tools as the package does, with what the scores are made of", async (t) => {
    const tab = await open(t, { fragment: "#tab=tools", first: LOADED });
    await tab.selectOption("#tools-sample", "filesystem");
    await shows(tab, "#tools-status", /^filesystem: 14 tools/);
    await tab.fill("#tool-query", "create a new folder");
    await tab.fill("#top", "3");
    const tools = cw.Catalog.fromMcp(await catalog("filesystem"), { server: "filesystem" });
    const router = new cw.Router(tools);
    const { candidate_ids, scores } = router.route("create a new folder", { top_k: 3 });
    const names = candidate_ids.map((id) => tools.get(id).title ?? tools.get(id).name);
    await until(async () => (await tab.locator(".ranking .link").allTextContents()).join("|"), new RegExp(`^${names.map((name, at) => `${at + 1}\\. ${name}`).join("\\|")}$`));
    await until(async () => (await tab.locator(".ranking .score b").allTextContents()).join(), new RegExp(`^${scores.map((score) => score.toFixed(2)).join()}$`));
    await shows(tab, ".ranking .legend", /a related word|in name|in description/);
    assert.match(await tab.locator(".ranking .bars").first().getAttribute("aria-label"), /^Score [\d.]+: \w/);
    await shows(tab, "#verdict", /leads by enough|too close to call/);
    await tab.locator(".ranking .link").first().click();
    await shows(tab, "#tool", new RegExp(`${names[0]}.*mcp:filesystem/.*"properties"`, "s"));
    await shows(tab, "[aria-label=Cards]", /create_directory/);
    await tab.fill("#card-budget", "40");
    await shows(tab, "#card-tokens", /[1-9]\d? tokens; \d cards? did not fit/);
    await tab.fill("#tool-query", "zzqx");
    await shows(tab, "#verdict", /No tool fits the query/);
    router.free();
    tools.free();
  });

  await t.test("filters by namespace, and the address has the state", async (t) => {
    const tab = await open(t, { fragment: "#tab=tools&tq=list+branches&top=5", first: LOADED });
    await shows(tab, ".ranking", /git|supabase/i);
    await tab.selectOption("#namespace", "supabase");
    await until(async () => [...new Set(await tab.locator(".ranking .card-head > .small").allTextContents())].join(), /^supabase$/);
    await addressed(tab, /tq=list branches.*ns=supabase/);
    await tab.reload();
    await shows(tab, ...LOADED);
    await until(async () => [...new Set(await tab.locator(".ranking .card-head > .small").allTextContents())].join(), /^supabase$/);
    assert.equal(await tab.locator(".ranking > li").count(), 5);
  });

  await t.test("the tree leads to every tool, by keyboard", async (t) => {
    const tab = await open(t, { fragment: "#tab=tools&tview=tree", first: LOADED });
    await shows(tab, ".tree", /filesystem.*14 tools/);
    const focused = () => tab.evaluate(() => document.activeElement.querySelector("span").textContent);
    await tab.locator(".tree > [role=treeitem]").first().focus();
    await tab.keyboard.press("ArrowRight");
    await until(() => tab.evaluate(() => document.activeElement.getAttribute("aria-expanded")), /true/);
    await until(async () => String(await tab.locator(".tree ul [role=treeitem]").count()), /^[1-9]/);
    await tab.keyboard.press("ArrowRight");
    const inner = await focused();
    await tab.keyboard.press("ArrowLeft");
    assert.notEqual(await focused(), inner);
    await tab.keyboard.press("ArrowLeft");
    await until(() => tab.evaluate(() => document.activeElement.getAttribute("aria-expanded")), /false/);
    await tab.keyboard.press("End");
    await until(focused, /Sequential Thinking/);
    await tab.keyboard.press("Enter");
    await shows(tab, "#tool", /Sequential Thinking.*mcp:sequential-thinking/s);
  });

  await t.test("lints", async (t) => {
    const tab = await open(t, { fragment: "#tab=tools&tview=lint", first: LOADED });
    await shows(tab, "#lint-count", /^\d+ findings/);
    await tab.selectOption("#tools-sample", "poisoned");
    await shows(tab, ".findings", /text-invisible/);
    await shows(tab, ".findings", /text-instruction/);
    await shows(tab, ".findings", /\\u\{202e\}/);
    assert.doesNotMatch(await tab.textContent("body"), /sk-ant-api03|[\u200b\u202e]/);
    await tab.locator(".findings .link").first().click();
    await shows(tab, "#tool", /mcp:poisoned/);
    await tab.selectOption("#tools-sample", "memory");
    await shows(tab, "#tools-status", /^memory: 9 tools/);
  });

  await t.test("shows the drift between two captures", async (t) => {
    const tab = await open(t, { fragment: "#tab=tools&tools=filesystem&tview=drift", first: ["#tools-status", /14 tools/] });
    await tab.selectOption("#before-sample", "filesystem-before");
    await shows(tab, "#drift-count", /4 tools changed, 1 added, 1 removed\. All of 3 queries still lead/);
    await shows(tab, "#drift", /breaking.*move_file.*destination/s);
    // The other way around, from a file: what was removed is back.
    const before = await catalog("filesystem");
    before.tools = before.tools.filter(({ name }) => name !== "create_directory");
    await choose(tab, "before", "earlier.json", JSON.stringify({ jsonrpc: "2.0", id: 1, result: before }));
    await shows(tab, "#before-status", /^earlier\.json: 13 tools/);
  });

  await t.test("asks again for what did not come", async (t) => {
    const tab = await open(t, { expected: /ERR_INTERNET_DISCONNECTED|ERR_FAILED/ });
    await tab.context().setOffline(true);
    await tab.click("#tab-tab-tools");
    await shows(tab, "#tools-problems", /The sample was not loaded.*Failed to fetch/s);
    await tab.click("#tools-again");
    await shows(tab, "#tools-problems", /Failed to fetch/);
    await tab.context().setOffline(false);
    await shows(tab, ...LOADED);
    assert.equal(await tab.textContent("#tools-problems"), "");
    assert.equal(await tab.locator("#tools-again").count(), 0);
    // The network is there, but a host fails once.
    let fails = true;
    await tab.route("**/catalogs/git.json", (route) => (fails ? route.abort() : route.continue()));
    await tab.selectOption("#tools-sample", "git");
    await shows(tab, "#tools-problems", /The sample was not loaded/);
    await shows(tab, ...LOADED);
    fails = false;
    await tab.click("#tools-again");
    await shows(tab, "#tools-status", /^git: \d+ tools/);
  });

  await t.test("says that what was loaded is gone after a reload", async (t) => {
    const tab = await open(t, { fragment: "#tab=tools", first: LOADED });
    await choose(tab, "tools", "own.json", '[{"name":"one","inputSchema":{"type":"object"}}]');
    await shows(tab, "#tools-status", /1 tool\./);
    await addressed(tab, /tools=own/);
    await tab.reload();
    await shows(tab, ...LOADED);
    await shows(tab, "#tools-lost", /is gone/);
    await tab.selectOption("#tools-sample", "memory");
    await shows(tab, "#tools-status", /^memory/);
    assert.equal(await tab.locator("#tools-lost").count(), 0);
  });

  await t.test("says what is wrong with a file, and keeps what was loaded", async (t) => {
    const tab = await open(t, { fragment: "#tab=tools", first: LOADED });
    for (const [content, problem] of [
      ["{", /not valid JSON/],
      ["{}", /\[\w+\]|no tool/],
      ['{"tools":[]}', /no tool/],
    ]) {
      await choose(tab, "tools", "bad.json", content);
      await shows(tab, "#tools-problems", problem);
      await shows(tab, ...LOADED);
    }
    await tab.click("#tools-paste summary");
    await tab.fill("#tools-pasted", '[{"name":"one","inputSchema":{"type":"object"}},{"inputSchema":1}]');
    await tab.click("#tools-paste button");
    await shows(tab, "#tools-status", /1 tool\./);
    await shows(tab, "#tab-panel-tools details:has(li)", /1 tool with something/);
  });
});
