// What a model gets of the tools through a gateway in search mode, beside all their schemas.
import { countTokens, selectableToMcpTool } from "contextweaver/slim";
import { GatewayRuntime } from "contextweaver/gateway-runtime";
import { InputError, json, safe } from "./text.ts";
import { catalogOf, type Loaded } from "./tools.ts";

export interface Searched {
  /** All tools as a client without a gateway shows them to its model. */
  readonly all: { readonly tools: number; readonly tokens: number };
  /** What the gateway lists in their place. */
  readonly listed: { readonly names: readonly string[]; readonly tokens: number; readonly json: string };
  /** What `search_tools` answers to the query, as the model reads it. */
  readonly answer: { readonly text: string; readonly tokens: number };
  /** Tools that the gateway holds back until somebody has looked at them. */
  readonly held: readonly string[];
}

/** Whom the gateway takes the page for. */
const SESSION = "page";

let made:
  | {
      readonly of: Loaded;
      readonly runtime: GatewayRuntime;
      readonly all: Searched["all"];
      readonly held: readonly string[];
    }
  | undefined;

/** The gateway over the loaded tools; each namespace stands for a server. */
function gateway(): NonNullable<typeof made> {
  const of = catalogOf();
  if (made?.of === of) return made;
  const servers = new Map<string, object[]>();
  for (const item of of.items) {
    const name = serverName(item.namespace);
    servers.set(name, [...(servers.get(name) ?? []), selectableToMcpTool(item).tool]);
  }
  const runtime = new GatewayRuntime({ mode: "search", servers: [...servers.keys()].map((name) => ({ name })) });
  const held: string[] = [];
  for (const [name, tools] of servers) {
    const { report } = runtime.setListing(name, new TextEncoder().encode(JSON.stringify({ tools })));
    held.push(...report.quarantined.map((each) => safe(`${name}: ${each.name}`)));
  }
  made?.runtime.free();
  const whole = JSON.stringify([...servers.values()].flat());
  made = { of, runtime, all: { tools: of.items.length, tokens: countTokens(whole) }, held };
  return made;
}

/** A name that the gateway takes for a server. */
const serverName = (namespace: string): string => namespace.replace(/[^\w.-]+/g, "-").slice(0, 60) || "server";

function search({ query }: { readonly query: string }): Searched {
  const { runtime, all, held } = gateway();
  const { tools } = runtime.listTools(SESSION);
  const listed = {
    names: tools.map(({ name }) => safe(String(name))),
    tokens: countTokens(JSON.stringify(tools)),
    json: json(tools),
  };
  const step = runtime.beginCall({
    session: SESSION,
    name: "search_tools",
    arguments: { query },
    can_confirm: false,
    now_ms: 0,
  });
  if (!("reply" in step)) throw new InputError("the gateway did not answer the search itself");
  const { content } = step.reply as { content?: readonly { readonly text?: string }[] };
  const text = (content ?? []).map((part) => part.text ?? "").join("\n");
  return { all, listed, held, answer: { text: safe(text), tokens: countTokens(text) } };
}

export const operations = { "gateway.search": search };
