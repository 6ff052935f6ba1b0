// Catalogs of tools, through the public API. Only the language itself may be used here: these cases run in every runtime.
import { refuses } from "./hostile-values.mjs";

export const tool = (id, more = {}) => ({ id, kind: "tool", name: id, description: `Does ${id}`, ...more });

const DEFAULTS = {
  tags: [],
  namespace: "",
  args_schema: {},
  output_schema: null,
  examples: [],
  constraints: {},
  side_effects: false,
  cost_hint: 0,
  metadata: {},
};

export const catalogCases = {
  "a catalog holds tools by id"(cw, assert) {
    const catalog = new cw.Catalog([tool("b"), tool("a", { tags: ["x"], depends_on: ["b"] })]);
    catalog.register(tool("c"));
    assert.equal(catalog.size, 3);
    assert.deepEqual(
      catalog.items().map(({ id }) => id),
      ["a", "b", "c"],
    );
    assert.deepEqual(catalog.get("b"), { ...tool("b"), ...DEFAULTS });
    assert.deepEqual(catalog.get("a"), { ...tool("a"), ...DEFAULTS, tags: ["x"], depends_on: ["b"] });
    assert.deepEqual([catalog.has("a"), catalog.has("A"), catalog.has("")], [true, false, false]);
    assert.equal(refuses(cw, assert, "get", () => catalog.get("z"), ["NOT_FOUND"]).path, "/id");
    assert.deepEqual([new cw.Catalog().size, new cw.Catalog(new Set([tool("s")])).size], [0, 1]);
    catalog.free();
  },

  "a catalog refuses what is wrong with a tool and stays as it was"(cw, assert) {
    const catalog = new cw.Catalog([tool("a")]);
    for (const [item, code, path] of [
      [tool("a"), "DUPLICATE_ID", "/id"],
      [tool(" \n"), "INVALID_INPUT", "/id"],
      [tool("b", { kind: "thing" }), "INVALID_INPUT", "/kind"],
      [tool("b", { metadata: { x: NaN } }), "INVALID_INPUT", "/metadata/x"],
      [{ id: "b", kind: "tool", description: "" }, "MISSING_FIELD", "/name"],
    ]) {
      assert.equal(refuses(cw, assert, code, () => catalog.register(item), [code]).path, path);
      // In a list of tools the path begins with the place in it.
      const all = refuses(cw, assert, code, () => new cw.Catalog([tool("a"), item]), [code]);
      assert.equal(all.path, `/items/1${path}`);
    }
    assert.deepEqual(
      catalog.items().map(({ id }) => id),
      ["a"],
    );
    catalog.free();
  },

  "a catalog shares nothing with what it is given or gives"(cw, assert) {
    const mine = tool("a", { tags: ["x"] });
    const catalog = new cw.Catalog([mine]);
    mine.tags.push("y");
    catalog.get("a").tags.push("z");
    assert.deepEqual(catalog.get("a").tags, ["x"]);
    catalog.free();
  },

  "a catalog is restored from its JSON"(cw, assert) {
    const catalog = new cw.Catalog([tool("b", { args_schema: { type: "object", properties: { z: {}, a: {} } } }), tool("a")]);
    const text = JSON.stringify(catalog);
    for (const source of [text, JSON.parse(text), catalog.toJSON()]) {
      const again = cw.Catalog.fromJSON(source);
      assert.equal(JSON.stringify(again), text);
      again.free();
    }
    const empty = cw.Catalog.fromJSON({ items: [] });
    assert.equal(empty.size, 0);
    empty.free();
    for (const other of [{}, "{}", { items: null }, { items: undefined }]) {
      const error = refuses(cw, assert, "no catalog", () => cw.Catalog.fromJSON(other), ["MISSING_FIELD"]);
      assert.deepEqual([error.path, /items/.test(error.hint)], ["/items", true]);
    }
    refuses(cw, assert, "an answer", () => cw.Catalog.fromJSON({ error: "not found" }));
    const two = { items: [tool("a"), tool("a")] };
    assert.equal(refuses(cw, assert, "two", () => cw.Catalog.fromJSON(two), ["DUPLICATE_ID"]).path, "/items/1/id");
    refuses(cw, assert, "no JSON", () => cw.Catalog.fromJSON("{"), ["DECODE_FAILED"]);
    catalog.free();
  },

  "a freed catalog is disposed, and managers go on"(cw, assert) {
    const manager = new cw.ContextManager();
    const catalog = new cw.Catalog([tool("a")]);
    const other = new cw.Catalog([tool("b")]);
    catalog.free();
    catalog.free();
    for (const use of [() => catalog.size, () => catalog.get("a"), () => catalog.register(tool("c")), () => JSON.stringify(catalog)]) {
      refuses(cw, assert, "freed", use, ["DISPOSED"]);
    }
    if (Symbol.dispose) other[Symbol.dispose]();
    else other.free();
    refuses(cw, assert, "disposed", () => other.size, ["DISPOSED"]);
    manager.ingest({ id: "u", kind: "user_turn", text: "hello" });
    assert.equal(manager.events.count(), 1);
    manager.free();
  },

  "a tool of a catalog fits where tools are taken"(cw, assert) {
    const catalog = new cw.Catalog([tool("a", { args_schema: { type: "object", required: ["x"] } })]);
    const manager = new cw.ContextManager();
    assert.deepEqual(manager.hydrate({ tool: catalog.get("a"), arguments: {} }).missing, ["x"]);
    new cw.Catalog([cw.drilldownTool(), ...catalog.items()]).free();
    manager.free();
    catalog.free();
  },
};
