// Entries of listings, and results, that are not what the protocol says: made of valid ones, each with something else in one place.

/** The same numbers in every run. */
export function random(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const ICONS = [{ src: "https://x.test/i.png", mimeType: "image/png", sizes: ["48x48"], theme: "dark" }];
const ANNOTATIONS = { audience: ["user", "assistant"], priority: 0.5, lastModified: "2025-01-12T15:00:58Z" };
const SCHEMA = {
  type: "object",
  properties: { a: { type: "string", enum: ["x"] }, b: { type: "array", items: { type: "integer", minimum: 1 } } },
  required: ["a"],
  additionalProperties: false,
  $defs: { d: {} },
  description: "d",
};

/** A valid entry of each list. */
export const ENTRIES = {
  tools: (name) => ({
    name,
    title: "T",
    description: "Does something for a test.",
    icons: ICONS,
    inputSchema: SCHEMA,
    outputSchema: { type: "object", properties: { r: { type: "string" } }, required: ["r"] },
    annotations: { title: "T", readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    execution: { taskSupport: "optional" },
    _meta: { own: 1 },
  }),
  resources: (name) => ({
    uri: `test://${name}`,
    name,
    title: "T",
    description: "d",
    mimeType: "text/plain",
    size: 5,
    icons: ICONS,
    annotations: ANNOTATIONS,
    _meta: { own: 1 },
  }),
  resourceTemplates: (name) => ({
    uriTemplate: `test://${name}/{x}`,
    name,
    title: "T",
    description: "d",
    mimeType: "text/plain",
    icons: ICONS,
    annotations: ANNOTATIONS,
    _meta: { own: 1 },
  }),
  prompts: (name) => ({
    name,
    title: "T",
    description: "d",
    icons: ICONS,
    arguments: [{ name: "a", title: "A", description: "d", required: true }],
    _meta: { own: 1 },
  }),
};
/** The field by which an entry is asked for. */
export const KEYS = { tools: "name", resources: "uri", resourceTemplates: "uriTemplate", prompts: "name" };

/** Valid answers of a call, a resource and a prompt. */
export const RESULTS = {
  "tools/call": {
    content: [
      { type: "text", text: "hello", annotations: ANNOTATIONS, _meta: { own: 1 } },
      { type: "image", data: "aGVsbG8=", mimeType: "image/png" },
      { type: "resource", resource: { uri: "test://r", mimeType: "text/plain", text: "inner", _meta: {} } },
      { type: "resource", resource: { uri: "test://b", blob: "aGVsbG8=" } },
      { type: "resource_link", uri: "test://l", name: "l", size: 5, icons: ICONS },
    ],
    structuredContent: { r: "x" },
    isError: false,
    _meta: { own: 1 },
  },
  "resources/read": {
    contents: [
      { uri: "test://r", mimeType: "text/plain", text: "inner", _meta: {} },
      { uri: "test://b", blob: "aGVsbG8=" },
    ],
  },
  "prompts/get": {
    description: "d",
    messages: [
      { role: "user", content: { type: "text", text: "hello" } },
      { role: "assistant", content: { type: "image", data: "aGVsbG8=", mimeType: "image/png" } },
    ],
  },
};

const ODD = [null, true, 0, -1.5, "", "odd", [], [null], {}, { a: 1 }, ["a", "a", 5]];

/** Every place in a value. */
function places(value, path = []) {
  const inner = typeof value === "object" && value !== null ? Object.keys(value).flatMap((key) => places(value[key], [...path, key])) : [];
  return path.length > 0 ? [path, ...inner] : inner;
}

function replaced(value, [key, ...rest], odd) {
  const copy = Array.isArray(value) ? [...value] : { ...value };
  if (rest.length > 0) copy[key] = replaced(value[key], rest, odd);
  else if (odd === undefined && !Array.isArray(copy)) delete copy[key];
  else copy[key] = odd ?? null;
  return copy;
}

/** Copies of a value with something else in one place each, and some with it in several. `spared` are places that stay. */
export function malformed(valueOf, spared, several = 100) {
  const next = random(7);
  const isSpared = (path) => path.length === 1 && spared.includes(path[0]);
  const all = places(valueOf("x")).filter((path) => !isSpared(path));
  const out = [];
  const add = (changes) =>
    out.push(
      changes.reduce(
        (value, [path, odd]) => {
          try {
            return replaced(value, path, odd);
          } catch {
            return value; // An earlier change took the place away.
          }
        },
        valueOf(`case_${out.length}`),
      ),
    );
  for (const path of all) for (const odd of [undefined, ...ODD]) add([[path, odd]]);
  for (let count = 0; count < several; count += 1) add(Array.from({ length: 2 + next(3) }, () => [all[next(all.length)], ODD[next(ODD.length)]]));
  return out;
}
