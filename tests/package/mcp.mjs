// Tools and sessions of MCP through the public API. Only the language itself may be used here: these cases run in every
// runtime.
import { refuses } from "./hostile-values.mjs";

const plain = (value) => JSON.parse(JSON.stringify(value));

const tool = () => ({
  name: "GitHub.merge",
  title: "Merge",
  description: "Merges a pull request",
  inputSchema: JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{}}}'),
  outputSchema: { type: "array", items: {} },
  annotations: { readOnlyHint: "false", costHint: 2, "x-own": [1] },
  icons: [{ src: "https://example.com/a.png" }, { src: "javascript:alert(1)" }],
  execution: { taskSupport: "optional" },
  _meta: { "com.example/a": 1 },
});

export const mcpCases = {
  "large images come out as their text says, in whatever form it is"(cw, assert) {
    const bytes = Uint8Array.from({ length: 30_001 }, (_, at) => (at * 7919) >> 3);
    const plain = btoa(String.fromCharCode(...bytes.subarray(0, 20_000)) + String.fromCharCode(...bytes.subarray(20_000)));
    const forms = {
      plain,
      spaced: plain.replace(/.{76}/g, "$&\n"),
      "for URLs": plain.replaceAll("+", "-").replaceAll("/", "_"),
      mixed: `${plain.slice(0, 400)}-+_/${plain.slice(404)}`,
      "without padding": plain.replace(/=+$/, ""),
      "with bits behind the end": plain.replace(/(.)(=+)$/, (_, last, padding) => `${String.fromCharCode(last.charCodeAt(0) + 1)}${padding}`),
      "padded in the middle": `${plain}${plain}`,
      "a data URI": `data:image/webp;base64,${plain}`,
      "not ASCII": `${plain.slice(0, 400)}\u0141\u0141\u0141\u0141${plain.slice(404)}`,
      "no base64": "!".repeat(40_000),
    };
    for (const [form, data] of Object.entries(forms)) {
      const result = {
        content: [
          { type: "text", text: "seen" },
          { data, type: "image", mimeType: "image/png" },
          { type: "resource", resource: { uri: "file:///x", blob: data } },
          { type: "video", data },
          { type: "audio", data: data.slice(0, 400) },
        ],
        data,
      };
      const before = JSON.stringify(result);
      const manager = new cw.ContextManager();
      const { envelope } = manager.ingestMcpResult({ tool_call_id: "c", tool_name: "t", result });
      const other = cw.mcpResultToEnvelope(result, "t");
      const stored = envelope.artifacts.filter(({ handle }) => handle.startsWith("mcp:t:c:"));
      assert.equal(stored.length, other.binaries.size, form);
      for (const [handle, binary] of other.binaries) {
        const found = stored.find((artifact) => artifact.handle === handle.replace("mcp:t:", "mcp:t:c:"));
        assert.deepEqual([found.media_type, found.label], [binary.media_type, binary.label], `${form}: ${handle}`);
        assert.deepEqual([...manager.artifacts.bytes(found.handle)], [...binary.bytes], `${form}: ${handle}`);
      }
      assert.deepEqual(envelope.provenance.warnings, other.envelope.provenance.warnings, form);
      assert.equal(envelope.status, other.envelope.status, form);
      assert.equal(JSON.stringify(result), before, form);
      if (form === "plain") assert.deepEqual([...manager.artifacts.bytes("mcp:t:c:image:1")], [...bytes]);
      manager.free();
    }
    const manager = new cw.ContextManager();
    const odd = { content: [{ type: "image", data: plain, mimeType: "image/png", note: 1n }] };
    const { envelope } = manager.ingestMcpResult({ tool_call_id: "o", tool_name: "t", result: odd });
    assert.deepEqual(envelope.provenance.warnings[0], { code: "value-repaired", path: "/result/content/0/note" });
    // What is more than a result may have is left out, and said.
    const list = Array.from({ length: 4 }, () => ({ type: "image", data: "A".repeat(13 * 1024 * 1024) }));
    const large = manager.ingestMcpResult({ tool_call_id: "c", tool_name: "t", result: { content: list } });
    const { missing_bytes, warnings } = large.envelope.provenance;
    assert.equal(large.envelope.status, "partial");
    assert.deepEqual(
      warnings,
      [1, 2, 3].map((at) => ({ code: "too-large", path: `/content/${at}/data` })),
    );
    assert.ok(missing_bytes === 3 * 13 * 1024 * 1024 * 0.75 && large.item.text.includes(`TOO_LARGE: ${missing_bytes} bytes`), `${missing_bytes}`);
    manager.free();
  },

  "a tool of a server becomes an item and comes back whole"(cw, assert) {
    const before = JSON.stringify(tool());
    const given = tool();
    const item = cw.mcpToolToSelectable(given, { server: "github" });
    assert.equal(JSON.stringify(given), before);
    assert.deepEqual([item.id, item.namespace, item.name, item.side_effects], ["mcp:github/GitHub.merge", "github", "GitHub.merge", true]);
    const { hints, warnings, schema_digest } = item.metadata._contextweaver.mcp;
    assert.deepEqual(plain(hints), { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true });
    assert.deepEqual(
      warnings.map(({ path }) => path),
      ["/annotations/readOnlyHint", "/icons/1"],
    );
    assert.ok(schema_digest.startsWith("sha256:"));
    const back = cw.selectableToMcpTool(item);
    assert.deepEqual([sorted(back.tool), back.report.length], [sorted(tool()), 0]);
    const { tool: old, report } = cw.selectableToMcpTool(item, { revision: "2025-06-18" });
    assert.deepEqual([old.icons, old.execution, old.outputSchema], [undefined, undefined, undefined]);
    assert.deepEqual(report.map(({ path }) => path).sort(), ["/annotations/readOnlyHint", "/execution", "/icons", "/outputSchema"]);
    assert.equal(cw.mcpToolToSelectable({ name: "x", description: "d" }, { id_form: "canonical" }).id, "mcp:x#a32362d4");
    assert.deepEqual(
      ["a.b", "slack_send_message", "x"].map((name) => cw.inferNamespace(name)),
      ["a", "slack", "mcp"],
    );
    for (const [what, run, code, path] of [
      ["no name", () => cw.mcpToolToSelectable({ description: "d" }), "MISSING_FIELD", "/tool/name"],
      ["a name that is a number", () => cw.mcpToolToSelectable({ name: 5 }), "INVALID_INPUT", "/tool/name"],
      ["no tool", () => cw.mcpToolToSelectable(5), "INVALID_INPUT", "/tool"],
      ["a typing error", () => cw.mcpToolToSelectable(tool(), { sever: "x" }), "UNKNOWN_FIELD", "/sever"],
      ["a revision", () => cw.selectableToMcpTool(item, { revision: "2024-11-05" }), "UNSUPPORTED", "/revision"],
    ]) {
      const error = refuses(cw, assert, what, run, [code]);
      assert.equal(error.path, path, what);
    }
  },

  "resources and prompts become items, and what is behind them an envelope"(cw, assert) {
    const resource = { uri: "file:///docs/readme.md", name: "README", title: "Read me", mimeType: "text/markdown", size: 5 };
    const item = cw.mcpResourceToSelectable(resource);
    assert.deepEqual([item.id, item.kind, item.namespace, item.title], ["resource::file:README#a8c506b1", "resource", "file", "Read me"]);
    assert.deepEqual(plain(item.metadata._contextweaver.mcp.fields), { size: 5 });
    assert.equal(cw.mcpResourceToSelectable(resource, { server: "docs" }).namespace, "docs");
    const contents = [
      { uri: "u:a", text: "hello" },
      { uri: "u:b", blob: "aGk=", mimeType: "image/png" },
    ];
    const read = cw.mcpResourceToEnvelope({ contents }, item.id);
    assert.deepEqual([read.full_text, read.envelope.status, read.warnings.length], ["hello", "ok", 0]);
    assert.deepEqual([...read.binaries.keys()], [`resource:${item.id}:0`, `resource:${item.id}:1`]);
    assert.deepEqual([...read.binaries.get(`resource:${item.id}:1`).bytes], [104, 105]);

    const prompt = { name: "review", arguments: [{ name: "code", required: true }, 5] };
    const asked = cw.mcpPromptToSelectable(prompt);
    assert.deepEqual([asked.kind, plain(asked.args_schema.required)], ["prompt", ["code"]]);
    assert.deepEqual(
      asked.metadata._contextweaver.mcp.warnings.map(({ path }) => path),
      ["/arguments/1"],
    );
    const messages = [
      { role: "user", content: { type: "text", text: "Review this" } },
      { role: "assistant", content: { type: "image", data: "aGk=", mimeType: "image/png" } },
    ];
    const got = cw.mcpPromptToEnvelope({ description: "A review", messages }, "p");
    assert.deepEqual([got.full_text, got.envelope.summary], ["[user] Review this\n[assistant]", "A review"]);
    assert.deepEqual([...got.binaries.keys()], ["prompt:p:image:1", "prompt:p:messages"]);
    for (const [what, run, code, path] of [
      ["no address", () => cw.mcpResourceToSelectable({}), "MISSING_FIELD", "/resource/uri"],
      ["no prompt", () => cw.mcpPromptToSelectable([]), "INVALID_INPUT", "/prompt"],
      ["a typing error", () => cw.mcpPromptToSelectable(prompt, { sever: "x" }), "UNKNOWN_FIELD", "/sever"],
      ["an option of tools", () => cw.mcpResourceToEnvelope({}, "r", { revision: "2025-06-18" }), "UNKNOWN_FIELD", "/revision"],
      ["no result", () => cw.mcpPromptToEnvelope(5, "p"), "INVALID_INPUT", "/result"],
      ["no room asked for", () => cw.mcpResourceToEnvelope({}, "r", { max_bytes: -1 }), "OUT_OF_RANGE", "/max_bytes"],
    ]) {
      assert.equal(refuses(cw, assert, what, run, [code]).path, path, what);
    }
  },

  "a recorded session becomes items, and every problem has its line"(cw, assert) {
    const lines = [
      '{"type":"user_turn","id":"u","text":"hi"}',
      "",
      '{"type":"tool_resutl","id":"r","parent_id":"nobody","content":[{"type":"text","text":"x"}]}',
    ];
    const text = lines.join("\r\n");
    let error;
    try {
      cw.loadMcpSessionJsonl(text);
    } catch (caught) {
      error = caught;
    }
    assert.deepEqual([error?.code, error?.path], ["INVALID_INPUT", "/text"]);
    const { items, warnings } = cw.loadMcpSessionJsonl(text, { strict: false });
    assert.deepEqual(
      items.map(({ id, kind, text }) => [id, kind, text]),
      [
        ["u", "user_turn", "hi"],
        ["r", "user_turn", "x"],
      ],
    );
    assert.deepEqual(
      warnings.map(({ line, path }) => [line, path]),
      [
        [3, "/type"],
        [3, "/parent_id"],
      ],
    );
  },
};

/** The text of a value with sorted keys. */
function sorted(value) {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sorted).join()}]`;
  return `{${Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${sorted(value[key])}`)
    .join()}}`;
}
