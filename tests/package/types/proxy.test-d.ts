// The proxy as it is used.
import { proxy } from "contextweaver/proxy";
import type { Proxy, ProxyCosts, ProxyLimits, ProxyLogEntry, ProxyOptions, ProxyProvider, ProxyStats } from "contextweaver/proxy";

const limits: ProxyLimits = { max_conversations: 50, max_units: 2 ** 24, max_body_bytes: 2 ** 22 };
const options: ProxyOptions = {
  budget_tokens: 60_000,
  token: false,
  upstreams: { openai: "https://openrouter.ai/api" },
  thrift: 0.5,
  prices: "anthropic",
  mask: true,
  max_rounds: 4,
  limits,
  hosts: ["proxy.example"],
  origins: ["https://app.example"],
  fetch: async (request) => fetch(request),
  on_request: ({ provider, model, sent, tokens, cut }: ProxyLogEntry) =>
    console.log(provider, model?.toUpperCase(), sent === "shortened", tokens?.toFixed(), cut),
  on_error: (error) => console.error(error),
};
const handler: Proxy = proxy(options);
export const answered: Promise<Response> = handler(new Request("http://localhost/v1/messages"));
export const stats: ProxyStats = handler.stats();
export const costs: ProxyCosts = stats.costs;
export const saved: number = costs.cost_without - costs.cost;
export const reasons: readonly string[] = Object.keys(stats.bypassed);
export const provider: ProxyProvider = "gemini";
export const worker = { fetch: (request: Request): Promise<Response> => handler(request) };
handler.free();

// @ts-expect-error a budget is needed
proxy({ token: false });
// @ts-expect-error without a token it serves whoever asks, which has to be said
proxy({ budget_tokens: 60_000 });
// @ts-expect-error there is no such provider
proxy({ budget_tokens: 60_000, token: false, upstreams: { mistral: "https://api.mistral.ai" } });
// @ts-expect-error counts are read
stats.requests = 1;
