// A server of MCP over standard input and output with one fault, which its first argument names. Written without an SDK, since no SDK
// would do that.
import { createInterface } from "node:readline";

const [, , fault = "none", number = "0"] = process.argv;
const write = (value) => process.stdout.write(`${typeof value === "string" ? value : JSON.stringify(value)}\n`);
const result = (id, value) => write({ jsonrpc: "2.0", id, result: value });
const text = (words) => ({ content: [{ type: "text", text: String(words) }] });
const tool = (name, more) => ({ name, inputSchema: { type: "object" }, ...more });
const deep = (levels) => JSON.parse(`${'{"properties":'.repeat(levels)}{}${"}".repeat(levels)}`);

let calls = 0;
let lists = 0;
let tools = [tool("echo"), tool("act")];
if (fault === "bad-tools")
  tools = [
    tool("echo"),
    null,
    7,
    { inputSchema: {} },
    tool(""),
    tool("deep", { inputSchema: deep(300) }),
    tool("large", { description: "x".repeat(2_000_000) }),
    tool("last"),
  ];

if (fault === "stderr") {
  const line = `token=${process.env.FAULTY_SECRET} ${"noise ".repeat(2_000)}\n`;
  const flood = () => {
    for (let at = 0; at < 200; at += 1) process.stderr.write(line);
    setTimeout(flood, 5);
  };
  flood();
}
if (fault === "dies") {
  process.stderr.write(`cannot read the key ${process.env.FAULTY_SECRET}\n`);
  process.exit(1);
}

// What programs print before their first message, and between others.
const JUNK = {
  mark: "\ufeff",
  "mark of UTF-16": Buffer.from([0xff, 0xfe]),
  "a colour": "\u001b[32m\u001b[0m",
  "a title": "\u001b]0;server\u0007",
  "NUL and blanks": "\0\0 \t\r\u200b",
  "a banner": "Server 1.0\n\n[INFO] {ready}\n{ not JSON\n",
  "words without an end": "Starting {1} ... ",
  "a prompt": "> ",
};
if (fault === "junk") process.stdout.write(JUNK[number]);

const methods = {
  initialize: (id, { protocolVersion }) =>
    result(id, {
      protocolVersion,
      capabilities: { tools: { listChanged: true }, ...(fault === "half" && { prompts: {}, resources: {} }) },
      serverInfo: { name: "faulty", version: "1" },
      instructions: `I am ${fault}`,
    }),
  ping: (id) => result(id, {}),
  "tools/list": (id, { cursor } = {}) => {
    lists += 1;
    if (fault === "pages") return result(id, { tools: [tool(`t${lists}`)], nextCursor: `page ${lists}` });
    if (fault === "circle") return result(id, { tools: [tool(`t${lists}`)], nextCursor: cursor === "a" ? "b" : "a" });
    if (fault === "second-page" && cursor !== undefined)
      return write({ jsonrpc: "2.0", id, error: { code: -32_603, message: `no page ${process.env.FAULTY_SECRET}` } });
    if (fault === "second-page") return result(id, { tools, nextCursor: "2" });
    result(id, { tools });
  },
  "prompts/list": (id) => write({ jsonrpc: "2.0", id, error: { code: -32_603, message: "out of order" } }),
  "resources/list": (id) => result(id, { resources: [{ uri: "a://b", name: "b" }] }),
  "tools/call": (id, { name, arguments: args = {} }) => {
    calls += 1;
    if (name === "big")
      return process.stdout.write(`npm warn\n${JSON.stringify({ jsonrpc: "2.0", id, result: text("big") }).replace('"big"', '"big","n":9007199254740993')}\n`);
    if (name === "echo") result(id, { ...text(JSON.stringify(args)), ...(args.odd && { content: [{ type: "unheard-of", more: [1] }], unheard_of: true }) });
    else if (name === "lists") result(id, text(lists));
    else if (name === "never") return;
    else if (fault === "huge") {
      const piece = "x".repeat(1024 * 1024);
      process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`);
      const more = (left) => (left === 0 ? write('"}]}}') : process.stdout.write(piece, () => more(left - 1)));
      more(200);
    } else if (fault === "changes") {
      tools.push(tool(`made${tools.length}`));
      for (let at = 0; at < 500; at += 1) write({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
      result(id, text(tools.length));
    } else if (fault === "chatter") {
      for (let at = 0; at < 5_000; at += 1) write({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: at } });
      result(id, text("said"));
    } else if (fault === "garbage") {
      for (let at = 0; at < 3_000; at += 1) write({ hello: at });
    } else if (fault === "asks") {
      for (let at = 0; at < 200; at += 1) write({ jsonrpc: "2.0", id: `q${at}`, method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } });
      asked = id;
    } else result(id, text("acted"));
    if (fault === "exits" && calls >= Number(number)) process.stdout.write("", () => process.exit(3));
  },
};
let asked;
const answers = { count: 0, refused: 0 };

createInterface({ input: process.stdin }).on("line", (line) => {
  if (fault === "hang") return;
  const { id, method, params, error } = JSON.parse(line);
  if (method === undefined) {
    answers.count += 1;
    if (error) answers.refused += 1;
    if (answers.count === 200) result(asked, text(JSON.stringify(answers)));
    return;
  }
  if (id === undefined) return;
  if (fault === "nonsense") return write(method === "server/discover" ? "<html>" : { jsonrpc: "2.0", id, result: { nothing: "here" } });
  if (Object.hasOwn(methods, method)) methods[method](id, params);
  else write({ jsonrpc: "2.0", id, error: { code: -32_601, message: "no such method" } });
});
// A client that has gone leaves nothing to do; one that hangs does not notice.
if (fault !== "hang") process.stdin.on("end", () => process.exit(0));
