// A server that is a program made by a test, and a client of a gateway in this process by plain requests.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

export const SECRET = "ghp_Zq7Rk2Lm9Xw4Tb6Yc1Nd8Vf3Hg5Js0Pa1Ueo";
export const MIB = 2 ** 20;

/**
 * A program whose tools answer what `answers` has by their names, as the text of a function of `given` arguments and `meta`. `resources`,
 * `read`, `extensions` and those of `methods` are such texts, too.
 */
export async function program(folder, name, answers, { tools, instructions, resources, read, extensions, methods = {} } = {}) {
  const path = join(folder, `${name}.mjs`);
  await writeFile(
    path,
    `
import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";
const SECRET = ${JSON.stringify(SECRET)}, MIB = ${MIB};
let client = {};
const answers = { ${Object.entries(answers)
      .map(([tool, body]) => `${JSON.stringify(tool)}: (given, meta) => (${body})`)
      .join(",\n")} };
const tools = ${tools ?? "Object.keys(answers).map((name) => ({ name, description: 'Answers.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }))"};
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") client = params.capabilities;
  if (method === "initialize") send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {}${resources ? ", resources: {}" : ""}${extensions ? `, extensions: ${extensions}` : ""} }, serverInfo: { name: "x", version: "1" }${instructions ? `, instructions: ${JSON.stringify(instructions)}` : ""} } });
  else if (method === "tools/list") send({ id, result: { tools } });
  else if (method === "tools/call") send({ id, result: answers[params.name](params.arguments ?? {}, params._meta ?? {}) });
  ${Object.entries(methods)
    .map(([name, body]) => `else if (method === ${JSON.stringify(name)}) send({ id, result: ${body} });`)
    .join("\n  ")}
  ${
    resources
      ? `else if (method === "resources/list") send({ id, result: { resources: ${resources} } });
  else if (method === "resources/read") send({ id, result: ${read} });`
      : ""
  }
  else if (id !== undefined) send({ id, error: { code: -32601, message: "no such method" } });
}).on("close", () => process.exit(0));
`,
  );
  return { command: process.execPath, args: [path] };
}

/** A client of a gateway, by requests of a revision with sessions. */
export async function user(handler, token = "t", capabilities = {}, name = "user", protocolVersion = "2025-06-18") {
  let session;
  let last = 0;
  const post = async (body) => {
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${token}`,
      ...(session && { "mcp-session-id": session, "mcp-protocol-version": protocolVersion }),
    };
    const response = await handler.fetch(new Request("http://127.0.0.1/mcp", { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", ...body }) }));
    session ??= response.headers.get("mcp-session-id");
    const text = await response.text();
    const data = text.startsWith("{")
      ? [text]
      : text
          .split("\n")
          .filter((line) => line.startsWith("data:"))
          .map((line) => line.slice(5));
    return data
      .filter((line) => line.trim() !== "")
      .map((line) => JSON.parse(line))
      .find(({ id }) => id === body.id);
  };
  const request = (method, params) => post({ id: (last += 1), method, params });
  await request("initialize", { protocolVersion, capabilities, clientInfo: { name, version: "1" } });
  await post({ method: "notifications/initialized" });
  return {
    request,
    call: async (name, given = {}, _meta) => request("tools/call", { name, arguments: given, ...(_meta && { _meta }) }),
    tools: async () => (await request("tools/list", {})).result.tools,
    names: async () => (await request("tools/list", {})).result.tools.map(({ name }) => name),
  };
}
