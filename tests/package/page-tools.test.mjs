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
const SERVERS = [
  "chrome-devtools",
  "context7",
  "everything",
  "filesystem",
  "firecrawl",
  "git",
  "memory",
  "mongodb",
  "notion",
  "playwright",
  "sequential-thinking",
  "supabase",
];
const OWN_SESSION = [
  { id: "u0", kind: "user_turn", text: "My number is 4711.", sensitivity: "confidential" },
  { id: "u1", kind: "user_turn", text: "Which branches are there?" },
  { id: "c1", kind: "tool_call", text: 'git_branch({"mode": "list"})' },
  { id: "r1", kind: "tool_result", parent_id: "c1", text: "main\nnext" },
  { id: "a1", kind: "agent_msg", text: "Two:\nmain and next. Shall I delete the branch next?" },
  { id: "u2", kind: "user_turn", text: "Is main ahead?" },
];

/** All recorded tools in one catalog. */
async function every() {
  const read = await Promise.all(SERVERS.map(async (server) => cw.Catalog.fromMcp(await catalog(server), { server }).items()));
  return new cw.Catalog(read.flat());
}

/** A turn of the user in the recorded session and what followed it, as the package hands them to a router. */
async function recordedAfter(id) {
  const items = (await readFile(join(root, "examples", "sessions", "shop.jsonl"), "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const at = items.findIndex((item) => item.id === id);
  const next = items.findIndex((item, place) => place > at && item.kind === "user_turn");
  const manager = new cw.ContextManager();
  manager.ingestAll(items.slice(0, next));
  const turns = manager.turnsBefore("");
  manager.free();
  return turns.slice(turns.findIndex((turn) => turn.id === id));
}

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
    await until(
      async () => (await tab.locator(".ranking .link").allTextContents()).join("|"),
      new RegExp(`^${names.map((name, at) => `${at + 1}\\. ${name}`).join("\\|")}$`),
    );
    await until(
      async () => (await tab.locator(".ranking .score b").allTextContents()).join(),
      new RegExp(`^${scores.map((score) => score.toFixed(2)).join()}$`),
    );
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

  await t.test("completes a follow-up from what was said before it, and says from which turn", async (t) => {
    const tab = await open(t, { fragment: "#tab=tools", first: LOADED });
    await shows(tab, "#said-before summary", /^Said before: nothing$/);
    assert.equal(await tab.locator(".completion").count(), 0);
    const first = () => tab.locator(".ranking .link").first().textContent();
    const used = () => tab.locator(".turns .used").allTextContents();

    // Every example is what the recorded session says, and what the package makes of it.
    const tools = await every();
    const router = new cw.Router(tools);
    for (const [query, after, expected] of [
      ["yes, do it", "i117", "1. Git Add"],
      ["and for the lamps?", "i082", "1. Read Text File"],
      ["no, thanks", "i117", ""],
    ]) {
      await tab.click(`button:text-is("${query}")`);
      await until(() => tab.inputValue("#tool-query"), new RegExp(`^${query.replace("?", "\\?")}$`));
      await addressed(tab, /said=user: .*\n/);
      const turns = await recordedAfter(after);
      const lines = turns.map(({ kind, text, tool }) => (kind === "tool_call" ? `call: ${tool}` : `${kind === "user_turn" ? "user" : "agent"}: ${text}`));
      assert.equal(await tab.inputValue("#said"), lines.join("\n"));
      await shows(tab, "#said-before summary", new RegExp(`^Said before: ${turns.length} turns$`));
      const { completion, no_match_reason: why } = router.route(query, { conversation: turns });
      if (expected === "") {
        assert.equal(completion, undefined);
        await shows(tab, "#completion", /Nothing is completed, so nothing is returned/);
        await shows(tab, "#verdict", new RegExp(`No tool fits the query: ${why}\\.`));
        assert.equal(await tab.locator(".ranking > li").count(), 0);
        assert.deepEqual(await used(), []);
        continue;
      }
      await until(first, new RegExp(`^${expected}$`));
      await until(() => tab.textContent("#completed"), new RegExp(`^${completion.query.replace(/[.?]/g, "\\$&")}$`));
      assert.deepEqual(
        (await used()).map((text) => / *completed from this$/.test(text)),
        completion.item_ids.map(() => true),
      );
      for (const [at, id] of completion.item_ids.entries()) {
        const turn = turns.find((each) => each.id === id);
        assert.ok((await used())[at].includes(turn.text || turn.tool), id);
      }
    }
    router.free();
    tools.free();

    // A tool that was called in these turns stands first for that, not for its score.
    await tab.click('button:text-is("and for the lamps?")');
    await shows(tab, "#completion", /“and for the lamps\?” does not stand on its own: it asks for the same again, or of something else/);
    await shows(tab, "#verdict", /^The first was called or named in the turns before/);
    await shows(tab, ".ranking > li:first-child .badge.kept", /said before/);
    // What stands on its own stays as it is.
    await tab.fill("#tool-query", "undo the last commit");
    await shows(tab, "#completion", /finds tools by itself: with or without these turns, the result is the same/);
    await shows(tab, "#verdict", /too close to call.*Low confidence/);
  });

  await t.test("takes turns as they are written, and says when there are none", async (t) => {
    const said = "user: Clean up what is not tracked.\nwaiting call: git_clean";
    const tab = await open(t, { fragment: `#${new URLSearchParams({ tab: "tools", tq: "yes, go ahead", said })}`, first: LOADED });
    await shows(tab, "#completion", /agrees to a call that waits/);
    await until(() => tab.locator(".ranking .link").first().textContent(), /^1\. Git Clean$/);
    await until(() => tab.locator(".turns .used").last().textContent(), /git_clean waits/);
    // A call with a result waits for nothing.
    await tab.click("#said-before summary");
    await shows(tab, "#said-before", /choose a turn/);
    await tab.fill("#said", said.replace("waiting call", "Call"));
    await shows(tab, "#completion", /Nothing is completed/);
    // Other lines go on with the turn before them, and what names nobody is the user's.
    await tab.fill("#said", "What did I change?\n\nagent: a.rs.\nShall I commit it?");
    await shows(tab, "#completed", /^Shall I commit it\?$/);
    await until(async () => (await tab.locator(".turns .kind").allTextContents()).join(), /^user turn,agent msg$/);
    // What is said cannot be taken for markup, a secret is masked, and what is invisible shows.
    await tab.fill("#said", "agent: <b>Push</b> with sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789\u202e? Shall I push?");
    await shows(tab, ".turns", /<b>Push<\/b> with /);
    await shows(tab, ".turns", /u\{202e\}|\\u202e/);
    assert.doesNotMatch(await tab.locator(".completion").textContent(), /api03-AbCd|\u202e/);
    await tab.fill("#said", "");
    await shows(tab, "#verdict", /Nothing was said before it that it could go on with/);
    assert.equal(await tab.locator(".completion").count(), 0);
    await until(() => tab.evaluate(() => location.hash), /^(?!.*said)/);
  });

  await t.test("takes the turns of the transcript that is loaded", async (t) => {
    const tab = await open(t);
    await choose(tab, "context", "own.jsonl", OWN_SESSION.map((item) => JSON.stringify(item)).join("\n"));
    await shows(tab, "#context-status", /^own\.jsonl/);
    await tab.evaluate(() => (document.getElementById("more").open = true));
    await tab.click("#tab-tab-tools");
    await shows(tab, ...LOADED);
    await tab.click("#said-before summary");
    await until(
      async () => (await tab.locator("#said-turn option").allTextContents()).join("|"),
      /^choose a turn\|u0 text withheld: confidential\|u1 Which branches are there\?\|u2 Is main ahead\?$/,
    );
    await tab.selectOption("#said-turn", { label: "u1 Which branches are there?" });
    await until(
      () => tab.inputValue("#said"),
      /^user: \nuser: Which branches are there\?\ncall: git_branch\nagent: Two:\n  main and next\. Shall I delete the branch next\?$/,
    );
    await tab.fill("#tool-query", "yes, do it");
    await shows(tab, "#completed", /^Shall I delete the branch next\?$/);
    // It is not in the address, and stays when another view was looked at.
    await addressed(tab, /tq=yes, do it/);
    assert.doesNotMatch(await tab.evaluate(() => location.hash), /said|branches/);
    await tab.click("#tview-tab-lint");
    await tab.click("#tview-tab-route");
    await tab.click("#said-before summary");
    await shows(tab, "#completed", /^Shall I delete the branch next\?$/);
    // Nor is it when it was changed; what is written from scratch is.
    await tab.fill("#said", "agent: Shall I push it?");
    await shows(tab, "#completed", /^Shall I push it\?$/);
    assert.doesNotMatch(await tab.evaluate(() => location.hash), /said/);
    await tab.fill("#said", "");
    await tab.fill("#said", "agent: Shall I push it?");
    await addressed(tab, /said=agent: Shall I push it/);
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
    await shows(tab, ".tree", /filesystem.*14 tools: Create Directory, Directory Tree/);
    // Words that every server's tools share say nothing.
    assert.doesNotMatch(await tab.textContent(".tree"), /mcp read|read-only/);
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
    await shows(tab, "#lint-count", /^(\d+) findings: \d+ warnings, \d+ notes\.$/);
    await tab.selectOption("#tools-sample", "poisoned");
    await shows(tab, ".findings", /text-invisible/);
    await shows(tab, ".findings", /text-instruction/);
    await shows(tab, ".findings", /\\u\{202e\}/);
    // The worst first, as many as is said, and each severity alone.
    const severities = async () =>
      (await tab.locator(".findings > li > .card-head > .badge").allTextContents()).map((text) => ["error", "warning", "note"].indexOf(text));
    const all = await severities();
    assert.deepEqual(all, [...all].sort());
    const said = /: (\d+) errors?, (\d+) warnings?(?:, (\d+) notes?)?/.exec(await tab.textContent("#lint-count"));
    assert.deepEqual(
      [0, 1, 2].map((severity) => all.filter((each) => each === severity).length),
      said.slice(1).map((text) => Number(text ?? 0)),
    );
    await tab.click("[role=group][aria-label='Findings to show'] button:has-text('warning')");
    await until(async () => [...new Set(await severities())].join(), /^1$/);
    await tab.click("[role=group][aria-label='Findings to show'] button:has-text('All')");
    assert.doesNotMatch(await tab.textContent("body"), /sk-ant-api03|[\u200b\u202e]/);
    await tab.locator(".findings .link").first().click();
    await shows(tab, "#tool", /mcp:poisoned/);
    await tab.selectOption("#tools-sample", "memory");
    await shows(tab, "#tools-status", /^memory: 9 tools/);
  });

  await t.test("says in words how sure it is, and gives a term one colour", async (t) => {
    const tab = await open(t, { fragment: "#tab=tools", first: LOADED });
    await shows(tab, "#verdict", /The first leads by enough.*High confidence \(9\d %\)/);
    await shows(tab, ".ranking", /1\. List tables.*\btable \d/);
    const colours = await tab.evaluate(() =>
      [...document.querySelectorAll(".ranking .legend li")].map((each) => [
        each.querySelector("b").textContent,
        [...each.querySelector(".swatch").classList].find((name) => name.startsWith("term-")),
      ]),
    );
    const byTerm = new Map();
    for (const [term, colour] of colours) byTerm.set(term, (byTerm.get(term) ?? new Set()).add(colour));
    assert.ok(colours.length > byTerm.size, "some term is in several tools");
    for (const [term, found] of byTerm) assert.equal(found.size, 1, term);
    await tab.fill("#tool-query", "undo the last commit");
    await shows(tab, "#verdict", /too close to call.*Low confidence \(4\d %\)/);
    // What it means is told to the keyboard, and goes away again.
    await tab.locator("#verdict .term-word").focus();
    await shows(tab, "#verdict .tip:visible", /of 100 queries of public test sets/);
    await tab.keyboard.press("Escape");
    await until(async () => String(await tab.locator("#verdict .tip:visible").count()), /^0$/);
  });

  await t.test("says what is wrong with what is empty or out of bounds", async (t) => {
    const tab = await open(t, { fragment: "#tab=tools", first: LOADED });
    await shows(tab, ".ranking", /1\. /);
    for (const wrong of ["0", "101", "1.5", ""]) {
      await tab.fill("#top", wrong);
      await shows(tab, ".number-field:has(#top) .wrong", /from 1 to 100; 10 counts until then/);
      await until(async () => String(await tab.locator(".ranking > li").count()), /^10$/);
    }
    await tab.fill("#top", "3");
    await until(async () => String(await tab.locator(".ranking > li").count()), /^3$/);
    assert.equal(await tab.textContent(".number-field:has(#top) .wrong"), "");
    await tab.fill("#tool-query", "  ");
    await shows(tab, "#no-query", /Nothing to choose by/);
    assert.equal(await tab.locator(".ranking").count(), 0);
  });

  await t.test("shows what a gateway would, in tokens", async (t) => {
    const tab = await open(t, { fragment: "#tab=tools&tview=gateway", first: ["#gateway-total", /tokens/] });
    const number = (text) => Number(text.replaceAll(",", ""));
    const [, before, after] = /^([\d,]+) tokens → ([\d,]+)/.exec(await tab.textContent("#gateway-total"));
    const cells = (await tab.locator("#gateway .measure td.c-number").allTextContents()).map(number);
    assert.equal(number(before), cells[0]);
    assert.equal(number(after), cells[1] + cells[2]);
    assert.ok(cells[1] < 700 && cells[0] > 100 * number(after), String(cells));
    const answer = await tab.textContent("[aria-label='Answer of search_tools']");
    assert.match(answer, /^1\. list_tables: /);
    assert.equal(cells[2], cw.countTokens(answer));
    await tab.fill("#gateway-query", "git_blame");
    await shows(tab, "[aria-label='Answer of search_tools']", /git_blame/);
    await tab.fill("#gateway-query", "");
    await shows(tab, "#gateway h3", /empty query: which servers there are/);
    await tab.selectOption("#tools-sample", "poisoned");
    await shows(tab, "#gateway-held", /held back/);
    assert.doesNotMatch(await tab.textContent("body"), /sk-ant-api03|[\u200b\u202e]/);
  });

  await t.test("asks again for the gateway", async (t) => {
    let fails = true;
    const tab = await open(t, { fragment: "#tab=tools", first: LOADED, expected: /ERR_FAILED/ });
    await tab.route("**/gateway_bg.wasm", (route) => (fails ? route.abort() : route.continue()));
    await tab.click("#tview-tab-gateway");
    await shows(tab, "#gateway-problem", /could not be loaded/);
    fails = false;
    await tab.click("#gateway-again");
    await shows(tab, "#gateway-total", /tokens/);
  });

  await t.test("the way back leads to the tab before", async (t) => {
    const tab = await open(t, { fragment: "#tab=tools", first: LOADED });
    await tab.fill("#tool-query", "list branches");
    await tab.click("#tview-tab-lint");
    await shows(tab, "#lint-count", /findings/);
    await tab.evaluate(() => (document.getElementById("more").open = true));
    await tab.click("#tab-tab-mcp");
    await tab.click("#mview-tab-meta");
    await shows(tab, "#meta", /crosses/);
    // The tabs under "More" are seen where it is open.
    const at = () =>
      tab.evaluate(() => {
        document.getElementById("more").open = true;
        return [...document.querySelectorAll("nav [aria-current=page], [role=tab][aria-selected=true]")]
          .filter((each) => each.checkVisibility())
          .map((each) => each.textContent)
          .join();
      });
    await tab.goBack();
    await until(at, /^MCP,Result$/);
    await tab.goBack();
    await until(at, /^Tools,Lint$/);
    await tab.goBack();
    await until(at, /^Tools,Choose$/);
    // What was changed there since is still so.
    assert.equal(await tab.inputValue("#tool-query"), "list branches");
    await tab.goForward();
    await until(at, /^Tools,Lint$/);
  });

  await t.test("on a phone details stand where they were asked for", async (t) => {
    const tab = await open(t, { fragment: "#tab=tools", first: LOADED, viewport: { width: 390, height: 844 } });
    const isBelow = (list) =>
      tab.evaluate((list) => {
        const [button, details] = [document.querySelector(`${list} [aria-pressed=true]`), document.querySelector("#tool")].map((each) =>
          each.getBoundingClientRect(),
        );
        return details.top > button.bottom && details.top - button.bottom < 400;
      }, list);
    await tab.locator(".ranking .link").nth(6).click();
    await shows(tab, "#tool", /mcp:/);
    assert.ok(await isBelow(".ranking"));
    await tab.click("#tview-tab-lint");
    await tab.locator(".findings .link").nth(12).click();
    await shows(tab, ".findings #tool", /mcp:/);
    assert.equal(await tab.locator("#tool").count(), 1);
    await tab.click("#tview-tab-tree");
    await tab.locator(".tree .leaf").last().click();
    await shows(tab, ".tree #tool", /Sequential Thinking/);
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
    await tab.evaluate(() => (document.getElementById("more").open = true));
    await tab.click("#tab-tab-tools");
    await shows(tab, "#tools-problems", /The sample was not loaded.*(Failed to fetch|NetworkError)/s);
    await tab.click("#tools-again");
    await shows(tab, "#tools-problems", /Failed to fetch|NetworkError/);
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
      ["{}", /missing field `tools`/],
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
    await shows(tab, "#panel-tools details:has(li)", /1 tool with something/);
  });
});
