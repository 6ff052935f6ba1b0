// A whole agent over a real MCP server: route, call, interpret, answer. The model is played by a script, so that this runs
// without a key. What only the host may know goes beside the model, in a ToolCallContext.
//
//   agent <main file of an MCP server for files> <folder with a server.log>
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Catalog, ContextManager, MetaPolicy, Router, ToolCallContext, decorate, defineTool, runTool, toMcpMeta } from "contextweaver";
import type { McpToolResult, ToolCallContext as Context } from "contextweaver";
import { model } from "./model.js";

const [server = "", folder = "."] = process.argv.slice(2);
const question = `Read the text file ${folder}/server.log: why did order 4711 fail?`;
const client = new Client({ name: "example-agent", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command: process.execPath, args: [server, folder], stderr: "ignore" }));

const catalog = Catalog.fromMcp(await client.listTools(), { server: "files" });
const router = new Router(catalog);
const log = new ContextManager({ budget: { answer: 800 } });
log.ingestMessages(
  [
    { role: "system", content: "Answer in one sentence." },
    { role: "user", content: question },
  ],
  "openai-chat",
);

// route: the model sees a few of the server's tools, and may only choose among them.
const { route, pack } = log.buildRoute({ query: question, router });
console.log(`route: ${route.candidate_ids.length} of ${catalog.size} tools in ${pack.stats.prompt_tokens ?? 0} tokens`);
const { selected_id } = router.validateSelection(route, model.choose(router.toolsFor(route, "openai-chat")));
if (selected_id === null) throw new Error("the model chose no tool");
const { name } = catalog.get(selected_id);

// call: the model sees the schema of that tool, and writes the arguments.
const asked = model.call(name, log.buildCall({ tool_id: selected_id, router, query: question }).prompt);
log.ingestMessages([asked], "openai-chat");
const [{ id, function: call }] = asked.tool_calls;
console.log(`call: ${name}(${call.arguments})`);

// The tool gets what the host knows; of that, the server gets what the policy names. The gate runs on every way in.
const remote = defineTool({ name }, (input: Record<string, unknown>, context: Context) => {
  const _meta = toMcpMeta(context, MetaPolicy.allow(["tenantId"]));
  return client.callTool({ name, arguments: input, ...(_meta && { _meta }) }) as Promise<McpToolResult>;
});
const tool = decorate(remote, {
  around: (input, context, next) => {
    if (!context.has("tenantId")) throw new Error("no tenant");
    return next(input);
  },
});
const host = ToolCallContext.of({ tenantId: "acme", apiToken: "never-to-be-seen" });
const result = await runTool(tool, JSON.parse(call.arguments) as Record<string, unknown>, { process: host });

// interpret: every byte is kept under a handle; the prompt gets a digest, and the model looks further.
const { envelope } = log.ingestMcpResult({ tool_call_id: id, tool_name: name, result });
const [artifact] = envelope.artifacts;
if (!artifact) throw new Error("nothing was kept");
const { selector } = model.interpret(log.build({ phase: "interpret", query: question }).prompt);
const slice = log.drilldown(artifact.handle, selector, { inject: true, max_tokens: 120 });
console.log(`interpret: ${artifact.size_bytes} bytes kept, looked into ${slice.text.split("\n").length} lines`);

// answer: the same log, as messages that the provider accepts.
const { messages, tokens } = log.buildMessages({ phase: "answer", query: question, format: "openai-chat" });
console.log(`answer: ${messages.length} messages, ${tokens} of 800 tokens\n${model.answer(messages)}`);
if (JSON.stringify([messages, log]).includes("never-to-be-seen")) throw new Error("a secret of the host leaked");
await client.close();
