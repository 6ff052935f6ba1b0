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
  "a tool of a server becomes an item and comes back whole"(cw, assert) {
    const before = JSON.stringify(tool());
    const given = tool();
    const item = cw.mcpToolToSelectable(given, { server: "github" });
    assert.equal(JSON.stringify(given), before);
    assert.deepEqual([item.id, item.namespace, item.name, item.side_effects], ["mcp:github/GitHub.merge", "github", "GitHub.merge", true]);
    const { hints, warnings, schema_digest } = item.metadata._contextweaver.mcp;
    assert.deepEqual(plain(hints), { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true });
    assert.deepEqual(warnings.map(({ path }) => path), ["/annotations/readOnlyHint", "/icons/1"]);
    assert.ok(schema_digest.startsWith("sha256:"));
    const back = cw.selectableToMcpTool(item);
    assert.deepEqual([sorted(back.tool), back.report.length], [sorted(tool()), 0]);
    const { tool: old, report } = cw.selectableToMcpTool(item, { revision: "2025-06-18" });
    assert.deepEqual([old.icons, old.execution, old.outputSchema], [undefined, undefined, undefined]);
    assert.deepEqual(report.map(({ path }) => path).sort(), ["/annotations/readOnlyHint", "/execution", "/icons", "/outputSchema"]);
    assert.equal(cw.mcpToolToSelectable({ name: "x", description: "d" }, { compat: "0.18" }).id, "mcp:x#a32362d4");
    assert.deepEqual(["a.b", "slack_send_message", "x"].map((name) => cw.inferNamespace(name)), ["a", "slack", "mcp"]);
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

  "a recorded session becomes items, and every problem has its line"(cw, assert) {
    const lines = ['{"type":"user_turn","id":"u","text":"hi"}', "", '{"type":"tool_resutl","id":"r","parent_id":"nobody","content":[{"type":"text","text":"x"}]}'];
    const text = lines.join("\r\n");
    let error;
    try {
      cw.loadMcpSessionJsonl(text);
    } catch (caught) {
      error = caught;
    }
    assert.deepEqual([error?.code, error?.path], ["INVALID_INPUT", "/text"]);
    const { items, warnings } = cw.loadMcpSessionJsonl(text, { strict: false });
    assert.deepEqual(items.map(({ id, kind, text }) => [id, kind, text]), [["u", "user_turn", "hi"], ["r", "user_turn", "x"]]);
    assert.deepEqual(warnings.map(({ line, path }) => [line, path]), [[3, "/type"], [3, "/parent_id"]]);
  },
};

/** The text of a value with sorted keys. */
function sorted(value) {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sorted).join()}]`;
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${sorted(value[key])}`).join()}}`;
}
