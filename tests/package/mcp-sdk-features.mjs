// Tools and results with everything that MCP knows, as a server would write them.
import { Buffer } from "node:buffer";

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
const base64 = (bytes) => Buffer.from(bytes).toString("base64");
const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte);
const time = "2025-06-18T12:00:00Z";

/** One tool per combination of hints, each true, false, or not there. */
const hinted = Array.from({ length: 3 ** HINTS.length }, (_, number) => {
  const annotations = {};
  HINTS.forEach((hint, place) => {
    const digit = Math.floor(number / 3 ** place) % 3;
    if (digit < 2) annotations[hint] = digit === 1;
  });
  if (number % 2 === 1) annotations.title = `Hints ${number}`;
  return { name: `hints_${number}`, description: `Hints number ${number}`, inputSchema: { type: "object" }, annotations };
});

const output = {
  type: "object",
  properties: { count: { type: "integer" }, rows: { type: "array", items: { type: "string" } }, nested: { type: "object" } },
  required: ["count"],
};

/** The tools of a server. `modern`: with what only revision 2026-07-28 knows. */
export const tools = ({ modern = false } = {}) => [
  ...hinted,
  { name: "bare", inputSchema: { type: "object" } },
  { name: "empty", title: "", description: "", inputSchema: { type: "object", properties: {}, required: [] }, annotations: {}, icons: [], _meta: {} },
  {
    name: "Files.read-all_v2",
    title: "Read files — ファイル 📁",
    description: 'Reads files.\n\n  Indented, with "quotes", a \\ and \u00e9 / e\u0301.',
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        path: { type: "string", description: "Where", pattern: "^/", minLength: 1 },
        mode: { enum: ["r", "rb"], default: "r" },
        constructor: { type: "object", properties: { deep: { oneOf: [{ type: "null" }, { $ref: "#/$defs/part" }] } } },
        limit: { type: "number", exclusiveMinimum: 0, maximum: 1.5, examples: [1e-7, 1] },
      },
      required: ["path"],
      additionalProperties: false,
      $defs: { part: { type: "array", prefixItems: [{ const: 0 }, { const: "" }, {}] } },
    },
    annotations: { title: "Read", readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    icons: [
      { src: "https://example.com/icon.png", mimeType: "image/png", sizes: ["48x48", "any"], theme: "dark" },
      { src: `data:image/svg+xml;base64,${base64("<svg/>")}` },
    ],
    _meta: { "com.example/tags": ["a", { b: null }], plain: 1, nothing: null },
  },
  { name: "report", description: "Reports", inputSchema: { type: "object" }, outputSchema: output },
  ...["optional", "forbidden", "required"].map((taskSupport) => ({
    name: `task_${taskSupport}`,
    description: "Long work",
    inputSchema: { type: "object" },
    execution: { taskSupport },
  })),
  ...(modern ? [{ name: "list", description: "Lists", inputSchema: { type: "object" }, outputSchema: { type: "array", items: { type: "integer" } } }] : []),
];

const annotations = { audience: ["user", "assistant"], priority: 0.5, lastModified: time };

/** Structured content that is no object. The SDK takes `resultType` away, so only the revision tells null from absence. */
const anyValue = {
  list: { sent: { content: [{ type: "text", text: "[1,2]" }], structuredContent: [1, 2] } },
  zero: { sent: { content: [{ type: "text", text: "0" }], structuredContent: 0 } },
  word: { sent: { content: [], structuredContent: "wörd" } },
  no: { sent: { content: [], structuredContent: false } },
  nil: { sent: { content: [], structuredContent: null }, options: { revision: "2026-07-28" } },
};

/** Results by the tool that answers with them, with the facts to find, and options that reading needs. */
export const results = ({ modern = false } = {}) => ({
  everything: {
    sent: {
      content: [
        { type: "text", text: "count: 3\nstatus: done", annotations, _meta: { "com.example/part": 1 } },
        { type: "text", text: "only for people 👪", annotations: { audience: ["user"], priority: 0 } },
        { type: "text", text: "only for the model", annotations: { audience: ["assistant"], priority: 1 } },
        { type: "image", data: base64(everyByte), mimeType: "image/png", annotations, _meta: { a: 1 } },
        { type: "audio", data: base64(everyByte.slice(0, 100)), mimeType: "audio/wav", annotations },
        {
          type: "resource",
          resource: { uri: "file:///a.md", mimeType: "text/markdown", text: "# Títle\n\nbody", _meta: { b: 2 } },
          annotations,
          _meta: { c: 3 },
        },
        { type: "resource", resource: { uri: "file:///a.bin", mimeType: "application/octet-stream", blob: base64(everyByte.slice(7)) } },
        {
          type: "resource_link",
          uri: "https://example.com/t.csv",
          name: "t",
          title: "Table",
          description: "Rows",
          mimeType: "text/csv",
          size: 9,
          annotations,
          icons: [{ src: "https://example.com/i.png" }],
          _meta: { d: 4 },
        },
        { type: "resource", resource: { uri: "file:///a.md", text: "the same address again" } },
      ],
      _meta: { "com.example/result": { e: [5] } },
    },
    facts: ["count: 3", "status: done"],
  },
  report: {
    sent: { content: [{ type: "text", text: '{"count": 2}' }], structuredContent: { count: 2, rows: ["é", "\u0000", "x"], nested: { __x: null, f: 0.1 } } },
    facts: ["count: 2"],
  },
  structured_only: { sent: { content: [], structuredContent: { state: "open", owner: { id: 7 } } }, facts: ["state: open"] },
  failed: {
    sent: {
      content: [
        { type: "text", text: "no such file: x" },
        { type: "image", data: base64([0]), mimeType: "image/gif" },
      ],
      isError: true,
    },
  },
  failed_report: {
    sent: { content: [{ type: "text", text: "cannot" }], structuredContent: { reason: "closed" }, isError: true, _meta: { f: 6 } },
    facts: ["reason: closed"],
  },
  fine: { sent: { content: [{ type: "text", text: "done" }], isError: false } },
  nothing: { sent: { content: [] } },
  long: { sent: { content: Array.from({ length: 40 }, (_, part) => ({ type: "text", text: `part ${part}: ${"🦊 fox ".repeat(200)}end ${part}` })) } },
  ...(modern ? anyValue : {}),
});

/** What of a block a model does not read as text, and so must be there as bytes; `undefined` when it is text for the model. */
export function bytesOf(block) {
  const { type, annotations: { audience } = {} } = block;
  const utf8 = (text) => Uint8Array.from(Buffer.from(text, "utf8"));
  const decoded = (text) => Uint8Array.from(Buffer.from(text, "base64"));
  if (type === "text") return audience && !audience.includes("assistant") ? { bytes: utf8(block.text), media_type: "text/plain" } : undefined;
  if (type === "image" || type === "audio") return { bytes: decoded(block.data), media_type: block.mimeType };
  if (type === "resource_link") return { bytes: utf8(block.uri), media_type: "text/uri-list" };
  const { text, blob, mimeType } = block.resource;
  return blob === undefined ? { bytes: utf8(text), media_type: mimeType ?? "text/plain" } : { bytes: decoded(blob), media_type: mimeType };
}

/** The texts a model must be able to read, in order. */
export const textsOf = ({ content }) =>
  content.flatMap((block) => {
    if (block.type === "resource_link") return [block.uri];
    const text = block.type === "resource" ? block.resource.text : block.text;
    return text === undefined || (block.type === "text" && bytesOf(block)) ? [] : [text];
  });
