// The tab of the protocol: tools and results as servers send them, and what crosses in `_meta`.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { packageDir, root } from "./harness.mjs";
import { addressed, choose, prepare, shows, until } from "./page.mjs";

const cw = await import(pathToFileURL(join(packageDir, "dist", "index.js")).href);

test("Page: MCP", async (t) => {
  // As most static hosts do it.
  const { open } = (await prepare(t, { header: false })) ?? {};
  if (!open) return;

  await t.test("shows a result as an envelope, its pictures and its sounds", async (t) => {
    const tab = await open(t, { fragment: "#tab=mcp", first: ["#envelope", /Checkout page captured/] });
    const result = JSON.parse(await readFile(join(root, "www", "samples", "result-rich.json"), "utf8"));
    const { envelope, binaries } = cw.mcpResultToEnvelope(result, "screenshot");
    assert.equal(await tab.textContent("[aria-label=Summary]"), envelope.summary);
    assert.equal(await tab.locator(".binaries > li").count(), binaries.size);
    const picture = () => tab.evaluate(() => document.querySelector(".binaries img")?.naturalWidth ?? 0);
    await until(async () => String(await picture()), /^96$/);
    const sound = () => tab.evaluate(() => document.querySelector(".binaries audio")?.duration ?? 0);
    await until(async () => String(await sound()), /^0\.25$/);
    assert.doesNotMatch(await tab.textContent("[aria-label=Summary]"), /screen only/, "what is for the user only is not for the model");
    const tokens = cw.countTokens(envelope.summary);
    await shows(tab, "#result-tokens", new RegExp(`^${tokens} tokens of ${cw.countTokens(JSON.stringify(result)).toLocaleString("en")}$`));
    // The record in colours beside the envelope: the same text, long base64 cut.
    const shown = JSON.parse(await tab.textContent("[aria-label='Result as JSON']"));
    assert.equal(shown.content[0].text, result.content[0].text);
    assert.match(shown.content.find(({ type }) => type === "audio").data, /^\w{40}… \([\d,]+ characters\)$/);
    assert.deepEqual(JSON.parse(await tab.textContent("[aria-label='Envelope as JSON']")), JSON.parse(JSON.stringify(envelope)));
    for (const kind of ["key", "text", "number"]) assert.ok((await tab.locator(`[aria-label='Envelope as JSON'] .json-${kind}`).count()) > 2, kind);
    await tab.locator("#envelope h3 .term-word").focus();
    await shows(tab, "#envelope .tip:visible", /stands for a result/);
    await tab.fill("#result-tool", "camera");
    await shows(tab, ".binaries", /mcp:camera:image:1/);
    await tab.selectOption("#result-revision", "2025-06-18");
    await shows(tab, "#envelope", /Envelope/);
    await tab.selectOption("#result-sample", "result-error.json");
    await shows(tab, "#envelope", /Envelope.* errorWhat the model reads.*ENOENT/s);
    await tab.fill("#result-text", "{");
    await shows(tab, "#result-problem", /not valid JSON/);
    await tab.fill("#result-text", '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"pong"}]}}');
    await shows(tab, "#envelope", /ok.*pong/s);
  });

  await t.test("makes no envelope of what is no result", async (t) => {
    const tab = await open(t, { fragment: "#tab=mcp", first: ["#envelope", /Checkout page captured/] });
    const rpc = (more) => JSON.stringify({ jsonrpc: "2.0", id: 1, ...more });
    for (const [text, problem] of [
      [
        rpc({ error: { code: -32602, message: "Unknown tool: screenshot", data: { token: "ghp_1234567890abcdefghijABCDEFGHIJ123456" } } }),
        /error of JSON-RPC.*-32602 Unknown tool: screenshot/,
      ],
      [rpc({ error: {} }), /error of JSON-RPC/],
      [rpc({ method: "tools/call", params: {} }), /no answer/],
      [rpc({}), /no result of tools\/call/],
      [rpc({ result: {} }), /no result of tools\/call/],
      [rpc({ result: null }), /no result of tools\/call/],
      ["{}", /no result of tools\/call/],
      ["[]", /a JSON object/],
    ]) {
      await tab.fill("#result-text", text);
      await shows(tab, "#result-problem", problem);
      assert.equal(await tab.locator("#envelope").count(), 0, text);
      assert.doesNotMatch(await tab.textContent("#result-problem"), /ghp_/);
    }
    await tab.fill("#result-text", '{"content":[]}');
    await shows(tab, "#envelope", /Envelope.* okWhat the model reads.*\(no content\)/s);
    // An error of the tool is a result.
    await tab.fill("#result-text", rpc({ result: { content: [], isError: true } }));
    await shows(tab, "#envelope", /Envelope.* errorWhat the model reads/s);
    for (const [panel, text, output] of [
      ["result", "#result-text", "#envelope"],
      ["tool", "#mtool-text", "#mtool-item"],
    ]) {
      await tab.click(`#mview-tab-${panel}`);
      await tab.locator(output).waitFor();
      for (const blank of ["", " \n"]) {
        await tab.fill(text, blank);
        await shows(tab, `#mview-panel-${panel}`, /Nothing to convert/);
        await until(async () => String(await tab.locator(output).count()), /^0$/);
      }
      await tab.click(`#mview-panel-${panel} .link:has-text("smallest one")`);
      await tab.locator(output).waitFor();
    }
  });

  await t.test("says that what was typed is gone after a reload", async (t) => {
    const tab = await open(t, { fragment: "#tab=mcp", first: ["#envelope", /Checkout/] });
    await tab.fill("#result-text", '{"content":[{"type":"text","text":"mine"}]}');
    await shows(tab, "#envelope", /mine/);
    await addressed(tab, /data\.result=own/);
    await tab.reload();
    await shows(tab, "#envelope", /Checkout/);
    await shows(tab, "#result-lost", /is gone/);
    await tab.selectOption("#result-sample", "result-error.json");
    await shows(tab, "#envelope", /ENOENT/);
    assert.equal(await tab.locator("#result-lost").count(), 0);
  });

  await t.test("hands hostile bytes to nobody", async (t) => {
    const tab = await open(t, { fragment: "#tab=mcp", first: ["#envelope", /Checkout/] });
    const base64 = (text) => Buffer.from(text).toString("base64");
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>top.pwned = 1</script><image href="http://localhost:1/x"/></svg>';
    const content = [
      { type: "image", mimeType: "image/svg+xml", data: base64(svg) },
      { type: "image", mimeType: "text/html", data: base64("<script>top.pwned = 2</script>") },
      { type: "audio", mimeType: "audio/wav", data: base64("no sound") },
      { type: "resource", resource: { uri: "javascript:alert(1)", mimeType: "text/html", text: "<script>top.pwned = 3</script>" } },
      { type: "text", text: "<img src=x onerror='top.pwned = 4'>\u202e\u001b[31m" },
    ];
    await choose(tab, "result", "<b>bad.json", JSON.stringify({ content }));
    await until(async () => String(await tab.evaluate(() => document.querySelector(".binaries img")?.naturalWidth ?? 0)), /^9$/);
    const found = await tab.evaluate(() => ({
      pwned: globalThis.pwned,
      made: document.querySelectorAll("body :is(script, iframe, object, embed, img[src=x], a[href^=javascript])").length,
    }));
    assert.deepEqual(found, { pwned: undefined, made: 0 });
    assert.match(await tab.textContent("#envelope"), /\\u\{202e\}/);
  });

  await t.test("shows a tool as an item, and the way back in every revision", async (t) => {
    const tab = await open(t, { fragment: "#tab=mcp&mview=tool", first: ["#mtool-item", /mcp:filesystem\/edit_file/] });
    const tool = JSON.parse(await readFile(join(root, "www", "samples", "tool-edit-file.json"), "utf8"));
    const item = cw.mcpToolToSelectable(tool, { server: "filesystem" });
    assert.deepEqual(JSON.parse(await tab.textContent("[aria-label='Item as JSON']")), item);
    assert.deepEqual(JSON.parse(await tab.textContent("[aria-label='Tool as JSON']")), tool);
    await shows(tab, ".hints", /readOnlyHint false.*destructiveHint true may destroy/s);
    await tab.selectOption("#mtool-revision", "2025-06-18");
    await shows(tab, "#mtool-item", /in revision 2025-06-18.*field-unknown/s);
    await tab.fill("#mtool-server", "files");
    await shows(tab, "#mtool-item .item-title", /^mcp:files\/edit_file/);
    await tab.selectOption("#mtool-sample", "catalogs/supabase.json");
    await shows(tab, "#mtool-item .item-title", /^mcp:files\/(?!edit_file)/);
    await tab.fill("#mtool-text", '{"description":"without a name"}');
    await shows(tab, "#mview-panel-tool .failure", /the tool has no name/);
  });

  await t.test("shows what crosses in _meta", async (t) => {
    const tab = await open(t, { fragment: "#tab=mcp&mview=meta", first: ["#meta", /crosses/] });
    const meta = async () => JSON.parse(await tab.textContent("[aria-label='_meta as it crosses']"));
    const row = (key) => tab.locator(`#meta tr:has(code:text-is("${key}"))`).textContent();
    assert.deepEqual(Object.keys(await meta()), ["tenant", "traceparent"]);
    assert.match(await row("authToken"), /yes.*stays.*not on the list/);
    // To stay is what is wanted, and no alarm; a secret that leaves is one.
    const badge = (key) => tab.locator(`#meta tr:has(code:text-is("${key}")) .badge`).getAttribute("class");
    assert.equal(await badge("authToken"), "badge stays");
    assert.equal(await badge("tenant"), "badge kept");
    await tab.fill("#meta-keys", "tenant, authToken");
    await until(() => row("authToken"), /stays.*a secret by its name/);
    await tab.fill("#meta-secrets", "authToken");
    await until(() => row("authToken"), /crosses.*a secret that is named as one/);
    assert.equal(await badge("authToken"), "badge warning");
    assert.equal((await meta()).authToken, "not-a-real-token");
    await tab.fill("#meta-prefix", "com.example/");
    await until(async () => Object.keys(await meta()).join(), /^com\.example\/tenant,com\.example\/authToken$/);
    await tab.fill("#meta-prefix", "");
    await tab.selectOption("#meta-policy", "deny");
    await tab.fill("#meta-keys", "user");
    await until(() => row("user"), /stays.*on the list/);
    await until(() => row("locale"), /crosses.*not held back/);
    await until(() => row("authToken"), /stays/);
    await tab.selectOption("#meta-policy", "passThrough");
    await until(() => row("user"), /crosses/);
    await tab.selectOption("#meta-policy", "none");
    await shows(tab, "#meta", /nothing is sent.*context_not_sent/s);
    await tab.fill("#meta-context", '{"progressToken": 1}');
    await tab.selectOption("#meta-policy", "passThrough");
    await until(async () => (await tab.textContent("#meta-problem")) + (await tab.locator("#meta").count()), /\[\w+\]|1$/);
    await tab.fill("#meta-context", "[");
    await shows(tab, "#meta-problem", /not valid JSON/);
    await addressed(tab, /mview=meta/);
  });
});
