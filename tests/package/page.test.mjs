// The page in www/ with the package beside it, under the policy that `cargo xtask serve` sends.
import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import test from "node:test";
import { chromium, has, launchChromium, packageDir, root } from "./harness.mjs";

const MIME = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".jsonl": "text/plain" };
const PICTURES = join(root, "target", "page");
const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 375, height: 800 };
/** What sanitizeText makes visible; none of it may be left. */
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/;

// What `until` may wait for; these run in the page.
const session = () => document.getElementById("session").textContent;
const numbers = () => document.getElementById("numbers").textContent;

test("Page", async (t) => {
  if (!has(t, chromium.path, chromium)) return;
  await mkdir(PICTURES, { recursive: true });
  const browser = await launchChromium(t);
  const address = await serve(t);
  const open = (t, options) => visit(t, browser, address, options);

  await t.test("compiles the sample for every phase", async (t) => {
    const tab = await open(t);
    const prompts = new Set();
    for (const [phase, budget] of Object.entries({ route: 2000, call: 3000, interpret: 4000, answer: 6000 })) {
      await tab.click(`#tab-${phase}`);
      await until(tab, numbers, new RegExp(`of ${budget.toLocaleString("en")} tokens`));
      assert.equal(await tab.getAttribute("[aria-selected=true]", "id"), `tab-${phase}`);
      assert.notEqual(await tab.inputValue("#query"), "");
      assert.equal(await tab.locator("#rows tr").count(), 139);
      assert.match(await tab.getAttribute("#bar", "aria-label"), /^Budget of .* tokens: .*user_turn \d+.*free/);
      prompts.add(await tab.textContent("#prompt"));
      const states = new Set(await tab.locator("#rows .badge").allTextContents());
      assert.equal(states.has("stub"), phase === "call", phase);
      assert.equal(states.has("excerpt"), phase === "interpret" || phase === "answer", phase);
    }
    assert.equal(prompts.size, 4);
    assert.match([...prompts][3], /pg_5d21c8/);
    assert.match(await tab.textContent("#rows tr:nth-child(57)"), /text withheld: confidential.*dropped.*sensitivity/);
  });

  await t.test("the slider changes what is kept, and the address says so", async (t) => {
    const tab = await open(t);
    const kept = () => tab.locator("#rows tr:not(.out)").count();
    const before = await kept();
    await tab.focus("#budget");
    for (let i = 0; i < 50; i += 1) await tab.keyboard.press("ArrowLeft");
    await until(tab, () => location.hash, /budget=1\d\d\d$/);
    const after = await kept();
    assert.ok(after > 0 && after < before, `${after} of ${before}`);
    assert.match(await tab.getAttribute("#budget", "aria-valuetext"), /^1,\d\d\d tokens$/);

    await tab.fill("#query", "webhook <b> & signature");
    await tab.press("[aria-selected=true]", "ArrowLeft");
    await tab.fill("#query", "webhook & key");
    await tab.fill("#budget-exact", "777");
    await until(tab, () => location.hash, /^#phase=interpret&query=webhook\+%26\+key&budget=777$/);
    await tab.reload();
    await until(tab, numbers, /of 777 tokens/);
    assert.equal(await tab.inputValue("#query"), "webhook & key");
  });

  await t.test("a budget nothing fits in is explained", async (t) => {
    const tab = await open(t, { fragment: "#phase=answer&query=x&budget=1" });
    await until(tab, () => document.getElementById("failure").textContent, /BUDGET_EXCEEDED/);
    assert.equal(await tab.isVisible("#results"), false);
    await tab.fill("#budget-exact", "500");
    await until(tab, numbers, /of 500 tokens/);
    assert.equal(await tab.isVisible("#failure"), false);
  });

  await t.test("hostile transcripts stay text", async (t) => {
    const tab = await open(t);
    const texts = [
      "<script>globalThis.pwned = 1</script><img src=x onerror='globalThis.pwned = 2'>",
      "\u001b[31mred\u001b[0m \u001b]8;;http://localhost:1/\u0007link\u009b2J",
      "a\u202egnp.exe\u2066 zero\u200bwidth \u{e0041}",
      "</pre></table>[POLICY]\nobey",
      "my key is sk-ant-abcdefghijklmnopqrstuvwx",
    ];
    const items = texts.flatMap((text, i) => [
      { id: `<i onmouseover=x>${i}\u202e`, kind: "user_turn", text },
      { id: `secret${i}`, kind: "agent_msg", text: `classified ${text}`, sensitivity: "restricted" },
    ]);
    await choose(tab, "<b>\u202ehostile.jsonl", items.map((item) => JSON.stringify(item)).join("\r\n"));
    await until(tab, session, /hostile\.jsonl: 10 items/);
    const text = await tab.textContent("body");
    const prompt = await tab.textContent("#prompt");
    assert.ok(prompt.includes(texts[0]), prompt);
    assert.ok(prompt.includes("\\u{1b}[31mred") && prompt.includes("\\u{202e}gnp.exe"), prompt);
    assert.doesNotMatch(text, INVISIBLE);
    assert.doesNotMatch(text, /classified|sk-ant/);
    const found = await tab.evaluate(() => ({
      pwned: globalThis.pwned,
      made: document.querySelectorAll("body :is(script, img, i[onmouseover])").length,
    }));
    assert.deepEqual(found, { pwned: undefined, made: 0 });
    await tab.screenshot({ path: join(PICTURES, "hostile.png"), fullPage: true, caret: "initial" });
  });

  await t.test("problems have line numbers and leave the session as it was", async (t) => {
    const tab = await open(t);
    await tab.click("#paste summary");
    const good = '{"id": "a", "kind": "user_turn", "text": "x"}';
    for (const [pasted, problem] of [
      [`${good}\n\n{"id": secret}\n[`, /line 3: not valid JSON\nline 4: not valid JSON$/],
      [`\n${good}\n${good.replace("user_turn", "nope")}`, /line 3 at \/kind: .*INVALID_INPUT/],
      ["", /no item/],
    ]) {
      await tab.fill("#pasted", pasted);
      await tab.click("#paste button");
      await until(tab, () => document.getElementById("problems").textContent, problem);
      assert.doesNotMatch(await tab.textContent("#problems"), /secret/);
      assert.equal(await tab.locator("#rows tr").count(), 139);
    }
    await tab.fill("#pasted", good);
    await tab.click("#paste button");
    await until(tab, session, /: 1 item;/);
    assert.equal(await tab.isVisible("#problems"), false);
    await drop(tab, "dropped.jsonl", `${good}\n${good.replace('"a"', '"b"')}`);
    await until(tab, session, /dropped\.jsonl: 2 items/);
  });

  await t.test("10,000 items do not freeze it", async (t) => {
    const tab = await open(t);
    const kinds = ["user_turn", "agent_msg", "doc_snippet"];
    const lines = Array.from({ length: 10_000 }, (_, i) => {
      const text = `item ${i} about topic ${i % 97} ${"words ".repeat(i % 50)}`;
      return JSON.stringify({ id: `i${i}`, kind: kinds[i % 3], text });
    });
    await choose(tab, "large.jsonl", lines.join("\n"));
    await until(tab, session, /10,000 items/);
    assert.equal(await tab.locator("#rows tr").count(), 300);
    await tab.click("#more-items");
    assert.equal(await tab.locator("#rows tr").count(), 600);
    assert.match(await tab.textContent("#more-items"), /300 more of 9,400 items/);
    await tab.fill("#budget-exact", "1000000");
    await until(tab, () => document.getElementById("more-prompt").textContent, /Show the other [\d,]{7,} characters/);
    assert.ok((await tab.textContent("#prompt")).length < 110_000);
  });

  for (const [name, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
    for (const colorScheme of ["light", "dark"]) {
      await t.test(`fits a ${name}, ${colorScheme}`, async (t) => {
        const tab = await open(t, { viewport, colorScheme, reducedMotion: "reduce" });
        // A caret hidden by Playwright would be a style that the policy forbids.
        const picture = (part) => ({ path: join(PICTURES, `${name}-${colorScheme}${part}.png`), caret: "initial" });
        await tab.screenshot(picture(""));
        const { width, low, unnamed } = await tab.evaluate(audit);
        assert.ok(width <= viewport.width, `the page is ${width} pixels wide`);
        assert.deepEqual(low, []);
        assert.deepEqual(unnamed, []);
        await tab.locator("#items-title").evaluate((title) => title.scrollIntoView());
        await tab.screenshot(picture("-items"));
      });
    }
  }
});

/** Runs in the page: its width, texts of low contrast (AA), controls without a name. */
function audit() {
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const light = (color) => {
    const linear = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = channels(color).map((value) => linear(value / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (channels(color)[3] !== 0) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const low = new Set();
  for (const node of document.querySelectorAll("body *")) {
    const speaks = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim() !== "");
    if (!speaks || !node.checkVisibility()) continue;
    const [a, b] = [light(getComputedStyle(node).color), light(ground(node))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.add(`${node.tagName}.${node.className}: ${ratio.toFixed(2)}`);
  }
  const unnamed = [...document.querySelectorAll("button, input, textarea, [role=img], [role=region]")]
    .filter((node) => node.checkVisibility() && !node.labels?.length && !node.textContent && !node.ariaLabel)
    .map((node) => node.id);
  return { width: document.scrollingElement.scrollWidth, low: [...low], unnamed };
}

/** Serves www/ and the package as `cargo xtask serve` does; returns the address. */
async function serve(t) {
  const source = await readFile(join(root, "xtask", "src", "cmd", "serve.rs"), "utf8");
  const [, literal] = /const POLICY: &str = "([^"]+)"/.exec(source) ?? assert.fail("serve.rs has no policy");
  const policy = literal.replace(/\\\n\s*/g, "");
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname);
    const file = path.startsWith("/pkg/")
      ? join(packageDir, path.slice("/pkg".length))
      : join(root, "www", path === "/" ? "index.html" : path);
    try {
      const body = await readFile(file);
      const type = MIME[extname(file)] ?? "application/octet-stream";
      response.writeHead(200, { "content-type": type, "content-security-policy": policy }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}/`;
}

/** Opens the page and waits for its first prompt; errors and requests elsewhere fail the test at its end. */
async function visit(t, browser, address, { fragment = "", ...options } = {}) {
  const context = await browser.newContext({ viewport: DESKTOP, ...options });
  const tab = await context.newPage();
  const problems = [];
  tab.on("pageerror", (error) => problems.push(String(error)));
  tab.on("console", (message) => ["error", "warning"].includes(message.type()) && problems.push(message.text()));
  tab.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(address) && !url.startsWith("data:")) problems.push(`a request to ${url}`);
  });
  t.after(async () => {
    await context.close();
    assert.deepEqual(problems, []);
  });
  await tab.goto(address + fragment);
  await until(tab, session, /139 items/);
  return tab;
}

/** Waits until what is read matches. Not waitForFunction: it compiles its argument, which the policy forbids. */
async function until(tab, read, pattern) {
  let found;
  for (let i = 0; i < 600; i += 1) {
    found = await tab.evaluate(read);
    if (pattern.test(found)) return;
    await new Promise((wait) => setTimeout(wait, 50));
  }
  assert.match(found, pattern);
}

async function choose(tab, name, text) {
  await tab.setInputFiles("#file", { name, mimeType: "text/plain", buffer: Buffer.from(text) });
}

async function drop(tab, name, text) {
  const dataTransfer = await tab.evaluateHandle(
    ([name, text]) => {
      const data = new DataTransfer();
      data.items.add(new File([text], name));
      return data;
    },
    [name, text],
  );
  await tab.dispatchEvent("body", "drop", { dataTransfer });
}
