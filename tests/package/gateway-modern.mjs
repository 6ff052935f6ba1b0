// A server of SDK 2.x on standard input and output, which speaks 2026-07-28 only and changes when its tool is called.
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const inputSchema = { type: "object" };
const tools = [{ name: "grow", inputSchema }];
serveStdio(
  () => {
    const server = new Server({ name: "modern", version: "2.0.0" }, { capabilities: { tools: { listChanged: true } } });
    server.setRequestHandler("tools/list", () => ({ tools: [...tools] }));
    server.setRequestHandler("tools/call", async () => {
      tools.push({ name: `grown${tools.length}`, inputSchema });
      await server.notification({ method: "notifications/tools/list_changed" });
      return { content: [{ type: "text", text: String(tools.length) }] };
    });
    return server;
  },
  { legacy: "reject" },
);
