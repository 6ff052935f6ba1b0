// Values that tools, servers and models send although they are no JSON, and what is made of each. Nothing here may end a conversation.

class Decimal {
  #digits = "19.90";
  toJSON() {
    return this.#digits;
  }
}
class Entity {
  id = 7;
  total = new Decimal();
  at = new Date(0);
}
const thrower = () => {
  throw new Error("secret");
};
const cycle = () => {
  const a = { name: "a" };
  return Object.assign(a, { self: a });
};
const deep = (levels) => {
  let value = "bottom";
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
};
const endless = () => new Proxy({ a: 1 }, { get: (_, key) => (key === "a" ? endless() : undefined) });
/** Marks a value that is compared with what JSON.stringify makes of it. */
export const AS_JSON = Symbol("as JSON.stringify");

/** Name, value, what is made of it, and the codes of the warnings. */
export const SENT = [
  ["a mean of nothing", () => NaN, AS_JSON, ["VALUE_REPAIRED"]],
  ["no end", () => [Infinity, -Infinity, 1], AS_JSON, ["VALUE_REPAIRED", "VALUE_REPAIRED"]],
  ["a decimal", () => new Decimal(), AS_JSON, ["VALUE_REPAIRED"]],
  ["an entity", () => new Entity(), AS_JSON, ["VALUE_REPAIRED", "VALUE_REPAIRED"]],
  ["undefined in a list", () => [1, undefined, 2], AS_JSON, ["VALUE_REPAIRED"]],
  ["undefined in an object", () => ({ a: undefined, b: 1 }), AS_JSON, []],
  ["a hole", () => Object.assign([1], { 3: 4 }), AS_JSON, ["VALUE_REPAIRED", "VALUE_REPAIRED"]],
  ["functions and symbols", () => ({ f: thrower, s: Symbol("s"), list: [thrower, Symbol("s")], [Symbol("k")]: 1 }), AS_JSON, Array(4).fill("VALUE_REPAIRED")],
  ["headers", () => new Headers({ a: "1" }), AS_JSON, ["VALUE_REPAIRED"]],
  ["parameters", () => new URLSearchParams("a=1"), AS_JSON, ["VALUE_REPAIRED"]],
  ["a map and a set", () => [new Map([[1, 2]]), new Set([1])], AS_JSON, ["VALUE_REPAIRED", "VALUE_REPAIRED"]],
  ["a regular expression and its match", () => [/a/, "abc".match(/(b)(x)?/)], AS_JSON, ["VALUE_REPAIRED", "VALUE_REPAIRED"]],
  ["primitives in objects", () => [new Number(3), new String("x"), new Boolean(false)], AS_JSON, Array(3).fill("VALUE_REPAIRED")],
  ["floats", () => new Float32Array([1, 2]), AS_JSON, ["VALUE_REPAIRED"]],
  ["dates and addresses", () => [new Date(0), new Date(NaN), new URL("https://a.example/")], AS_JSON, []],
  ["what a toJSON says", () => ({ a: { toJSON: (key) => `it is ${key}` } }), AS_JSON, ["VALUE_REPAIRED"]],
  ["no prototype", () => Object.assign(Object.create(null), { a: 1 }), AS_JSON, []],
  // What JSON.stringify would refuse, or says nothing of.
  ["a BigInt", () => ({ id: 725653563933458433n }), { id: "725653563933458433" }, ["VALUE_REPAIRED"]],
  ["a cycle", cycle, { name: "a", self: "[circular]" }, ["VALUE_REPAIRED"]],
  [
    "a getter that throws",
    () => ({
      a: 1,
      get b() {
        return thrower();
      },
    }),
    { a: 1, b: "[cannot be read]" },
    ["VALUE_REPAIRED"],
  ],
  ["a toJSON that throws", () => [{ toJSON: thrower }], ["[cannot be read]"], ["VALUE_REPAIRED"]],
  ["a proxy that throws", () => [new Proxy({}, { ownKeys: thrower })], ["[cannot be read]"], ["VALUE_REPAIRED"]],
  [
    "a proxy that is revoked",
    () => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return [proxy];
    },
    ["[cannot be read]"],
    ["VALUE_REPAIRED"],
  ],
  ["bytes", () => new Uint8Array([1, 2, 3]), "AQID", []],
  [
    "an error",
    () => ({ error: Object.assign(new RangeError("not found"), { code: "E_7" }) }),
    { error: { name: "RangeError", message: "not found", code: "E_7" } },
    ["VALUE_REPAIRED"],
  ],
  [
    "an error with a cause",
    () => new Error("outer", { cause: new Error("inner") }),
    { name: "Error", message: "outer", cause: { name: "Error", message: "inner" } },
    ["VALUE_REPAIRED", "VALUE_REPAIRED"],
  ],
  // Texts that were cut in the middle of a character.
  [
    "half of an emoji",
    () => ({ text: "cut \ud83d", long: `${"x".repeat(300)}\ude00` }),
    { text: "cut \ufffd", long: `${"x".repeat(300)}\ufffd` },
    ["TEXT_REPAIRED", "TEXT_REPAIRED"],
  ],
  ["half of an emoji in a key", () => ({ "a\udc00": 1 }), { "a\ufffd": 1 }, ["TEXT_REPAIRED"]],
];

/** What is cut: name, value, a text that stands at the cut. */
export const CUT = [
  ["10,000 levels", () => deep(10_000), /nested deeper than/],
  ["a proxy without end", endless, /nested deeper than/],
  [
    "a sparse array",
    () => {
      const list = [1];
      list.length = 2 ** 32 - 1;
      return list;
    },
    /^\[1\]$/,
  ],
];

/** What a value is expected to become. */
export const wanted = (make, expected) => (expected === AS_JSON ? JSON.parse(JSON.stringify(make())) : expected);
