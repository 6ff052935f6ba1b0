// The constant front of many tools: which list a step has, and what a call of `call_tool` means.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { project } from "./harness.mjs";
import { random } from "./random-logs.mjs";

const folder = await project("tool-front");
const adapters = join(folder, "node_modules/contextweaver/dist/adapters");
const { ToolFront } = await import(pathToFileURL(join(adapters, "tool-front.js")));
const { AgentLoop } = await import(pathToFileURL(join(adapters, "agent-loop.js")));

const object = (properties, required = []) => ({ type: "object", properties, required });
const tool = (name, tokens = 10, schema = object({ at: { type: "integer" } })) => ({ name, description: `Does ${name}`, schema, tokens });
const LETTERS = [..."abcdefghij"];
const frontOf = (tools = LETTERS.map((name) => tool(name)), search = (query, most) => [...query].slice(0, most)) => new ToolFront(tools, search);
const step = (wanted, more) => ({ wanted: [...wanted], demanded: [], room: 1_000, isCut: false, ...more });

test("Tool front: the list is made in the first step and changes in a cut alone", () => {
  const front = frontOf();
  assert.deepEqual(front.offer(step("cab")), { names: ["a", "b", "c"], tokens: 30, left_out: [], isChanged: true });
  // Another question wants other tools.
  assert.deepEqual(front.offer(step("xgh")), { names: ["a", "b", "c"], tokens: 30, left_out: [], isChanged: false });
  assert.deepEqual([front.lists("a"), front.lists("g")], [true, false]);
  assert.deepEqual(front.offer(step("hg", { isCut: true })), { names: ["g", "h"], tokens: 20, left_out: [], isChanged: true });
  assert.deepEqual(front.offer(step("gh", { isCut: true })).isChanged, false);
});

test("Tool front: what is demanded is there, and what was listed stays beside it", () => {
  const front = frontOf();
  front.offer(step("ab"));
  assert.deepEqual(front.offer(step("", { demanded: ["j"] })).names, ["a", "b", "j"]);
  // It stays, as another change would cost as much again.
  assert.deepEqual(front.offer(step("")).names, ["a", "b", "j"]);
  assert.deepEqual(front.offer(step("c", { demanded: ["none", "d"], isCut: true })).names, ["c", "d"]);
});

test("Tool front: what has no room is named, what is demanded comes first, and less room makes the list anew", () => {
  const front = frontOf();
  assert.deepEqual(front.offer(step("abcd", { demanded: ["j"], room: 35 })), { names: ["a", "b", "j"], tokens: 30, left_out: ["c", "d"], isChanged: true });
  assert.deepEqual(front.offer(step("h", { room: 35 })).names, ["a", "b", "j"]);
  assert.deepEqual(front.offer(step("hg", { room: 25 })), { names: ["g", "h"], tokens: 20, left_out: [], isChanged: true });
});

test("Tool front: between two cuts no list is another, whatever is asked for", () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const { below, pick } = random(seed);
    const front = frontOf(LETTERS.map((name) => tool(name, 1 + below(20))));
    const some = () => Array.from({ length: below(8) }, () => pick(LETTERS));
    let before;
    for (let at = 0; at < 20; at += 1) {
      const isCut = below(5) === 0;
      const demanded = below(6) === 0 ? some().slice(0, 1) : [];
      const list = front.offer({ wanted: some(), demanded, room: 100, isCut });
      assert.ok(list.tokens <= 100);
      assert.deepEqual(
        list.names,
        LETTERS.filter((name) => list.names.includes(name)),
        "the order of the definitions",
      );
      assert.equal(list.isChanged, JSON.stringify(list.names) !== JSON.stringify(before));
      assert.deepEqual(
        demanded.filter((name) => !list.names.includes(name)),
        [],
      );
      if (before && !isCut && demanded.length === 0) assert.deepEqual(list.names, before, `seed ${seed}, step ${at}`);
      before = list.names;
    }
  }
});

test("Tool front: a search tells how what it finds is called", () => {
  const front = frontOf();
  const { names, text } = front.find("cax");
  assert.deepEqual(names, ["c", "a"]);
  assert.match(text, /^c: Does c\narguments: \{"type":"object","properties":\{"at":\{"type":"integer"\}\},"required":\[\]\}\n\na: Does a\n/);
  assert.match(text, /call_tool: \{"name": "…", "arguments": \{…\}\}$/);
  assert.deepEqual(front.find("xyz"), { names: [], text: "No tool fits." });
  // A schema that is too long for a list is told where it is asked for alone.
  const wide = object(Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`field_${n}`, { type: "string" }])));
  const large = frontOf([tool("a"), tool("b", 10, wide), tool("c")]);
  assert.match(large.find("abc").text, /b: Does b\narguments: too long to show here; find b alone\n\nc: Does c\narguments: \{/);
  assert.match(large.find("b").text, /field_899/);
});

test("Tool front: what a step wants and does not list can be announced", () => {
  const front = frontOf([...LETTERS.map((name) => tool(name)), { name: "web_search", tokens: 5 }]);
  front.offer(step("ab"));
  assert.equal(front.announce(["b", "a", "web_search", "none"]), undefined);
  assert.match(front.announce(["b", "c"]), /^c: Does c\narguments: [^]*call_tool/);
  assert.doesNotMatch(front.announce(["b", "c"]), /Does b/);
});

test("Tool front: a call means the tool and the arguments that the model is likely to have meant", () => {
  const schema = object({ group: { type: "integer" }, note: { type: "string" }, until: { type: ["string", "null"] } }, ["group"]);
  const front = frontOf([
    tool("billing_archive_0", 10, schema),
    tool("getOrder", 10, schema),
    tool("crm.list", 10, object({})),
    { name: "web_search", tokens: 5 },
  ]);
  const args = { group: 3 };
  const meant = { call: { name: "billing_archive_0", arguments: args } };
  for (const given of [
    { name: "billing_archive_0", arguments: args },
    JSON.stringify({ name: "billing_archive_0", arguments: args }),
    { name: "billing_archive_0", arguments: JSON.stringify(args) },
    { name: "billing_archive_0", args },
    { name: "billing_archive_0", input: args },
    { name: "billing_archive_0", group: 3 },
    { name: "billing_archive_0", arguments: null, parameters: args },
    { tool_name: "billing_archive_0", arguments: args },
    { name: "billing-archive-0", arguments: args },
    { name: "Billing_Archive_0", arguments: args },
    { name: "functions.billing_archive_0", arguments: args },
    { name: "billing_archive_0", arguments: { group: 3, note: null } },
  ]) {
    assert.deepEqual(front.resolve(given), meant, JSON.stringify(given));
  }
  // What may be null stays.
  assert.deepEqual(front.resolve({ name: "get_order", arguments: { group: 3, until: null } }), {
    call: { name: "getOrder", arguments: { group: 3, until: null } },
  });
  // So does what no schema excludes, of its own or by what it refers to.
  const string = { type: "string" };
  const nullable = { anyOf: [{ $ref: "#/$defs/name" }, { type: "null" }] };
  const defs = {
    name: string,
    maybe: nullable,
    loop: { $ref: "#/$defs/loop" },
    "a/b": { enum: ["x", null] },
    wide: { allOf: Array(50).fill({ $ref: "#/$defs/wide" }) },
  };
  const allowed = {
    any: {},
    titled: { title: "T", default: "x" },
    one: { $ref: "#/$defs/maybe" },
    escaped: { $ref: "#/$defs/a~1b" },
    loop: { $ref: "#/$defs/loop" },
    wide: { $ref: "#/$defs/wide" },
    elsewhere: { $ref: "https://schemas.example/x" },
    nowhere: { $ref: "#/$defs/none" },
    listed: { type: ["string", "null"], enum: ["x", null] },
    fixed: { const: null },
    either: { oneOf: [string, { type: "null" }] },
    both: { allOf: [{}, nullable] },
    old: { type: "string", nullable: true },
  };
  const excluded = {
    named: { $ref: "#/$defs/name" },
    inner: object({ until: nullable }),
    listed_only: { enum: ["null", "x"] },
    fixed_only: { const: "null" },
    neither: { anyOf: [string, { $ref: "#/$defs/name" }] },
    not_both: { allOf: [nullable, string] },
    typed_only: { type: "string", description: "null for none", enum: ["x", null] },
  };
  const nulls = frontOf([tool("set", 10, { ...object({ ...allowed, ...excluded }), $defs: defs })]);
  const none = (properties) => Object.fromEntries(Object.keys(properties).map((name) => [name, null]));
  assert.deepEqual(nulls.resolve({ name: "set", arguments: none({ ...allowed, ...excluded }) }).call.arguments, none(allowed));
  // A parameter may have the name of a field of `call_tool`.
  const named = object({ name: { type: "string" }, input: { type: "string", description: "must not be null" } }, ["name"]);
  const others = frontOf([tool("create_user", 10, named)]);
  for (const [given, meant] of [
    [{ tool: "create_user", name: "Ann" }, { name: "Ann" }],
    [
      { tool: "create_user", name: "Ann", input: "hello" },
      { name: "Ann", input: "hello" },
    ],
    [{ name: "create_user", arguments: { name: "Ann", input: null } }, { name: "Ann" }],
  ])
    assert.deepEqual(others.resolve(given), { call: { name: "create_user", arguments: meant } }, JSON.stringify(given));
  assert.deepEqual(front.resolve({ name: "crm.list" }), { call: { name: "crm.list", arguments: {} } });
  assert.deepEqual(front.resolve({ name: "crm.list", arguments: "" }), { call: { name: "crm.list", arguments: {} } });
  // What was run last is wanted first when the list is made anew.
  assert.deepEqual(front.run, ["crm.list", "getOrder", "billing_archive_0"]);
});

test("Tool front: what no tool is meant by is told to the model, with what helps", () => {
  const tools = [tool("pay_invoice", 10, object({ id: { type: "integer" } }, ["id"])), tool("payInvoice"), tool("list"), { name: "web_search", tokens: 5 }];
  const front = frontOf(tools, (query) => (query === "lists_all" ? ["web_search", "list"] : []));
  for (const [given, told] of [
    ["no JSON", /no JSON object.*call_tool/s],
    [[], /no JSON object/],
    [null, /no JSON object/],
    [{}, /name of the tool is missing/],
    [{ name: 7 }, /name of the tool is missing/],
    [{ name: "lists_all" }, /^There is no tool "lists_all"\. Is it list\?/],
    [{ name: "zzzzzz" }, /^There is no tool "zzzzzz"\. Look for one by find_tools\.$/],
    // The provider runs it, and the model calls it by itself.
    [{ name: "web_search" }, /^web_search is called by its own name, not by call_tool\.$/],
    // Two are alike.
    [{ name: "PAY-INVOICE" }, /^There is no tool/],
    [{ name: "pay_invoice", arguments: {} }, /^id: missing in the arguments of pay_invoice\. Their schema: \{"type":"object"/],
    [{ name: "pay_invoice", arguments: "{" }, /^The arguments of pay_invoice are no JSON object\. Their schema/],
    [{ name: "pay_invoice", arguments: [1] }, /^The arguments of pay_invoice are no JSON object/],
  ]) {
    assert.match(front.resolve(given).problem ?? "", told, JSON.stringify(given));
  }
  assert.deepEqual(front.run, []);
});

test("Tool front, a loop of an agent: another question keeps the list and is told what it lacks, a cut takes what was asked for and run", () => {
  const areas = ["paint a door", "refund an order", "book a train", "weigh a parcel"];
  const tools = areas.flatMap((area) =>
    Array.from({ length: 10 }, (_, n) => ({ name: `${area.replaceAll(" ", "_")}_${n}`, description: `Can ${area} of the number ${n}`, schema: object({}) })),
  );
  const loop = new AgentLoop({ budget_tokens: 8_000, max_tools: 3, always: ["book_a_train_9"] });
  loop.setTools(tools);
  const added = ["find_tools", "call_tool", "drilldown", "recall"];
  const turn = (query) => ({ query, called: [] });
  const own = ({ names }) => names.filter((name) => !added.includes(name));
  const first = loop.choose(turn("paint a door"));
  assert.deepEqual(first.names.slice(-4), added);
  assert.equal(own(first).length, 4);
  assert.ok(
    own(first).every((name) => name.startsWith("paint") || name === "book_a_train_9"),
    own(first).join(),
  );
  assert.deepEqual(first.unlisted, []);
  const second = loop.choose(turn("refund an order"));
  assert.deepEqual(second.names, first.names);
  assert.equal(second.unlisted.length, 3);
  assert.match(loop.announce(second.unlisted), /^refund_an_order_\d: Can refund/);
  assert.equal(loop.announce(own(first)), undefined);
  // What is demanded is there at once, and stays.
  assert.ok(loop.choose({ ...turn("refund an order"), demanded: ["weigh_a_parcel_4"] }).names.includes("weigh_a_parcel_4"));
  assert.deepEqual(loop.resolve("call_tool", { name: "weigh_a_parcel_7", arguments: {} }), { name: "weigh_a_parcel_7", arguments: {} });
  const renewed = loop.renewed(turn("refund an order"), 3_000);
  assert.deepEqual(
    own(renewed).filter((name) => !name.startsWith("refund")),
    ["book_a_train_9", "weigh_a_parcel_7"],
  );
  assert.equal(own(renewed).length, 5);
  assert.deepEqual(loop.choose(turn("paint a door")).names, renewed.names);
  // A prompt that leaves little room for another list gets what has to be there.
  const narrow = loop.renewed(turn("paint a door"), renewed.tokens - 1);
  assert.ok(narrow.tokens < renewed.tokens && added.every((name) => narrow.names.includes(name)) && narrow.names.includes("book_a_train_9"));
  loop.free();
});
