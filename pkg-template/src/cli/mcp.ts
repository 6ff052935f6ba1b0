// `contextweaver mcp`: `drilldown` and `recall` over the results of a project, as a server of MCP on standard input and output.
import process from "node:process";
import type { DrilldownInput, RecallInput } from "../adapters/read-on.js";
import { ContextWeaverError, drilldownTool, recallTool, version } from "../index.js";
import type { StoredTool } from "../api.js";
import { FOLDER, logged } from "./hook/folder.js";
import { serveHooks } from "./hook/resident.js";
import type { ProjectResults } from "./hook/results.js";
import { projectResults } from "./hook/stored.js";
import type { Fields, ServerSdk, ServerStdioSdk } from "../gateway/server-sdk.js";
import { UsageError } from "./options.js";
import type { CommandLine } from "./options.js";

/** The official SDK, bundled with the program. */
const SDK: string = "./mcp-sdk.js";
const METHOD_PARAMS_INVALID = -32602;

/** Runs the command, until the input ends. */
export async function mcpCommand({ files, values }: CommandLine): Promise<string> {
  if (files.length > 0) throw new UsageError("mcp takes no arguments");
  const folder = (values["store"] as string | undefined) ?? FOLDER;
  const results = projectResults(folder, { mask: values["mask"] === true });
  const { server: sdk, server_stdio: stdio } = (await import(SDK)) as {
    readonly server: ServerSdk;
    readonly server_stdio: ServerStdioSdk;
  };
  const ended = new Promise<void>((done) => {
    process.stdin.once("end", done);
    process.stdin.once("close", done);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, done);
  });
  stdio.serveStdio(() => serverOf(sdk, results, folder));
  serveHooks(
    folder,
    (options) => projectResults(folder, options),
    (error) => failed(folder, error),
  );
  void results.prune().catch((error: unknown) => failed(folder, error));
  await ended;
  process.exit(0);
}

function serverOf(sdk: ServerSdk, results: ProjectResults, folder: string) {
  const product = new sdk.McpServer({ name: "contextweaver", version: version() }, { capabilities: { tools: {} } });
  const tools = [drilldownTool(), recallTool()].map(offered);
  product.server.setRequestHandler("tools/list", () => Promise.resolve({ tools }));
  product.server.setRequestHandler("tools/call", async ({ params = {} }) => {
    const { name, arguments: input = {} } = params as { readonly name?: string; readonly arguments?: Fields };
    if (!tools.some((tool) => tool["name"] === name))
      throw new sdk.ProtocolError(METHOD_PARAMS_INVALID, "there are drilldown and recall");
    try {
      const { reply } = await (name === "recall"
        ? results.recall(input as unknown as RecallInput)
        : results.drilldown(input as unknown as DrilldownInput));
      return reply;
    } catch (error) {
      failed(folder, error);
      const text = ContextWeaverError.is(error) ? `${error.code}: ${error.message}` : "the results cannot be read";
      return { content: [{ type: "text", text }], isError: true };
    }
  });
  return product;
}

function offered({ name, description, args_schema: inputSchema }: StoredTool): Fields {
  return { name, description, inputSchema, annotations: { readOnlyHint: true, openWorldHint: false } };
}

function failed(folder: string, error: unknown): void {
  const { code, name } = error as { readonly code?: string; readonly name?: string };
  logged(folder, `mcp: ${code ?? name ?? "unknown"}`);
}
