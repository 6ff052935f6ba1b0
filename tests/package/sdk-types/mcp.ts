// Compiled, never run: clients of both major versions of the SDK of MCP, without a cast.
import { Client as NextClient } from "@modelcontextprotocol/client";
import type { CallToolResult as NextResult } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { ContextManager } from "contextweaver";
import { firewalled } from "contextweaver/mcp";

const manager = new ContextManager();
const info = { name: "agent", version: "1.0.0" };

export const client: Client = firewalled(new Client(info), manager);
export const result: Promise<CallToolResult> = client.callTool({ name: "read", arguments: { path: "a" } }).then((answer) => CallToolResultSchema.parse(answer));
export const names: Promise<string[]> = client.listTools().then(({ tools }) => tools.map(({ name }) => name));

export const next: NextClient = firewalled(new NextClient(info), manager, { drilldown: "read_on" });
export const nextResult: Promise<NextResult> = next.callTool({ name: "read", arguments: { path: "a" } }, { timeout: 1_000 });
firewalled(next, manager, { drilldown: false });

// @ts-expect-error no client
firewalled({ callTool: async () => ({}) }, manager);
// @ts-expect-error no manager
firewalled(client, {});
// @ts-expect-error a name, or false
firewalled(client, manager, { drilldown: true });
