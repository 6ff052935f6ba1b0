// A gateway to MCP servers: a Durable Object that keeps its results, sessions and pins. See docs/gateway-cloudflare.md.
import * as client from "@modelcontextprotocol/client";
import * as server from "@modelcontextprotocol/server";
import { DurableObject } from "cloudflare:workers";
import { durableObjectStore, r2Blobs } from "contextweaver/cloudflare";
import { gateway } from "contextweaver/mcp";

interface Env {
  MCP_SERVERS: string;
  CONTEXTWEAVER_TOKEN: string;
  BLOBS: R2Bucket;
  GATEWAY: DurableObjectNamespace<GatewayObject>;
}

export class GatewayObject extends DurableObject<Env> {
  handler = gateway({
    mcpServers: JSON.parse(this.env.MCP_SERVERS),
    token: this.env.CONTEXTWEAVER_TOKEN,
    store: durableObjectStore(this.ctx.storage, { blobs: r2Blobs(this.env.BLOBS), clock: Date.now }),
    sdk: { server, client },
  });
  override fetch(request: Request): Promise<Response> {
    return this.handler(request);
  }
}

export default {
  fetch: (request: Request, env: Env): Promise<Response> => env.GATEWAY.get(env.GATEWAY.idFromName("gateway")).fetch(request),
};
