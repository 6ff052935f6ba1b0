// How known agents are told where the proxy is.
import { fileURLToPath } from "node:url";
import { keptRequest } from "../boundary/abort.js";
import type { ProxyOptions } from "../proxy.js";
import { OFFICIAL } from "../proxy/routes.js";
import { pastProxy } from "./env-proxy.js";
import type { Env } from "./env-proxy.js";
import type { Programs } from "./programs.js";

/** Variables and arguments that an agent is started with. */
export interface AgentStart {
  readonly env: Readonly<Record<string, string>>;
  /** What stands before its own arguments. */
  readonly args: readonly string[];
}

/** Variables by which agents and SDKs find a provider, with what is behind the address of the proxy. */
const VARIABLES = {
  OPENAI_BASE_URL: { provider: "openai", path: "/v1" },
  OPENAI_API_BASE: { provider: "openai", path: "/v1" },
  ANTHROPIC_BASE_URL: { provider: "anthropic", path: "" },
  GOOGLE_GEMINI_BASE_URL: { provider: "gemini", path: "" },
  CODE_ASSIST_ENDPOINT: { provider: "code_assist", path: "" },
} as const;

/** Milliseconds that Codex has to say whether it is logged in. */
const LOGIN_MS = 10_000;

/** The configuration of Codex, which no variable reaches. `isKey`: it pays with `OPENAI_API_KEY`, else with its login. */
function codexArguments(address: string, isKey: boolean): readonly string[] {
  const provider = "model_providers.contextweaver";
  const settings = [
    `${provider}.name="contextweaver"`,
    `${provider}.base_url="${address}/v1"`,
    `${provider}.wire_api="responses"`,
    isKey ? `${provider}.env_key="OPENAI_API_KEY"` : `${provider}.requires_openai_auth=true`,
    `model_provider="contextweaver"`,
  ];
  return settings.flatMap((setting) => ["-c", setting]);
}

/** The configuration of OpenCode, which reads it from a variable. */
function openCodeConfig(address: string): string {
  const provider = Object.fromEntries(
    ["openai", "anthropic"].map((name) => [name, { options: { baseURL: `${address}/v1` } }]),
  );
  return JSON.stringify({ provider });
}

/** What pi is told beside a conversation, where it takes no extension. */
const PI_COMMANDS = ["install", "remove", "uninstall", "update", "list", "config"];

/** The extension that leads pi to the proxy of `CONTEXTWEAVER_PROXY`, as no variable and no other argument does. */
function piArguments(): readonly string[] {
  return ["--extension", fileURLToPath(new URL("../../bin/pi.js", import.meta.url))];
}

/** Whether Codex has a login, which it prefers to a key in the environment. */
function isLoggedIn(program: string, { sync }: Programs): boolean {
  return sync(program, ["login", "status"], { stdio: "ignore", timeout: LOGIN_MS }).status === 0;
}

/** Agents that take no address from the environment. */
const WITHOUT_VARIABLES = ["codex", "pi"];

/** What stands behind a proxy, and who sends to it. */
export type Behind = Pick<ProxyOptions, "upstreams" | "fetch">;

/**
 * Puts the addresses that an agent would take from the environment behind the proxy. One that takes none has none there: a login must not
 * reach another host by a variable that its agent does not read.
 */
export function behindOf(program: string, env: Env): Behind {
  if (WITHOUT_VARIABLES.includes(nameOf(program))) return {};
  const named = Object.entries(VARIABLES).flatMap(([variable, { provider, path }]) => {
    const address = env[variable]?.replace(/\/+$/, "");
    return address ? [{ provider, address, isWhole: address.endsWith(path), path }] : [];
  });
  const upstreams = named.map(
    ({ provider, address, isWhole, path }) =>
      [provider, isWhole ? address.slice(0, address.length - path.length) : address] as const,
  );
  // The first variable of a provider decides.
  const openai = named.find(({ provider }) => provider === "openai");
  return {
    upstreams: Object.fromEntries(upstreams.reverse()),
    ...(openai?.isWhole === false && {
      fetch: async (request) => fetch(await withoutVersion(request, openai.address)),
    }),
  };
}

/** A request as an agent sends it to an address without `/v1`: that of the proxy, which it was told in its place, has it. */
async function withoutVersion(request: Request, address: string): Promise<Request> {
  const { href } = new URL(address);
  const base = href.replace(/\/$/, "");
  if (!request.url.startsWith(`${base}/v1/`)) return request;
  const { method, headers, signal, redirect, body } = request;
  const init = { method, headers, signal, redirect, ...(body && { body: await request.arrayBuffer() }) };
  return keptRequest(base + request.url.slice(`${base}/v1`.length), init);
}

/** The name of a program without its folder and its ending. */
function nameOf(program: string): string {
  return (program.split(/[/\\]/).at(-1) ?? program).replace(/\.(?:exe|cmd|js)$/i, "");
}

/** Whether calls for Anthropic come to Anthropic: nobody else is known to take what a search of tools sends. */
function isAnthropic(upstream: string | undefined): boolean {
  return !upstream || (URL.canParse(upstream) && new URL(upstream).host === new URL(OFFICIAL.anthropic).host);
}

/**
 * Says what an agent is started with. `first` is the first of its own arguments; `anthropic` is what stands behind the proxy for that
 * provider, where it was named.
 */
export function startOf(
  program: string,
  first: string | undefined,
  address: string,
  env: Env,
  { programs, anthropic }: { readonly programs: Programs; readonly anthropic: string | undefined },
): AgentStart {
  const isKey = (env["OPENAI_API_KEY"] ?? "") !== "";
  const name = nameOf(program);
  const isPi = name === "pi" && !PI_COMMANDS.includes(first ?? "");
  const variables = Object.fromEntries(
    Object.entries(VARIABLES).map(([variable, { path }]) => [variable, `${address}${path}`]),
  );
  return {
    env: {
      ...variables,
      ...(env["OPENCODE_CONFIG_CONTENT"] === undefined && { OPENCODE_CONFIG_CONTENT: openCodeConfig(address) }),
      // Before a host that it does not know, Claude Code sends all tools with every call. The proxy passes on what finds them.
      ...(env["ENABLE_TOOL_SEARCH"] === undefined && isAnthropic(anthropic) && { ENABLE_TOOL_SEARCH: "true" }),
      ...(isPi && { CONTEXTWEAVER_PROXY: address }),
      ...pastProxy(env),
    },
    args: [
      ...(name === "codex" ? codexArguments(address, isKey && !isLoggedIn(program, programs)) : []),
      ...(isPi ? piArguments() : []),
    ],
  };
}

/** Arguments as a shell reads them. */
function quoted(args: readonly string[], flag: string): string {
  return args.map((one) => (one === flag ? one : `'${one}'`)).join(" ");
}

/** The lines that tell how each known agent is pointed at a proxy. */
export function linesFor(address: string, env: Env): string {
  const past = pastProxy(env);
  const rows = [
    ["SDKs of Anthropic", `export ANTHROPIC_BASE_URL=${address}`],
    ["Claude Code", `export ANTHROPIC_BASE_URL=${address} ENABLE_TOOL_SEARCH=true`],
    ["SDKs of OpenAI", `export OPENAI_BASE_URL=${address}/v1`],
    ["Codex, logged in", `codex ${quoted(codexArguments(address, false), "-c")}`],
    ["Codex, with OPENAI_API_KEY", `codex ${quoted(codexArguments(address, true), "-c")}`],
    ["OpenCode", `export OPENCODE_CONFIG_CONTENT='${openCodeConfig(address)}'`],
    ["Gemini CLI", `export GOOGLE_GEMINI_BASE_URL=${address} CODE_ASSIST_ENDPOINT=${address}`],
    ["pi", `CONTEXTWEAVER_PROXY=${address} pi ${quoted(piArguments(), "--extension")}`],
    ...(past ? [["All of them", `export NO_PROXY='${past.NO_PROXY}'`]] : []),
  ] as const;
  return rows.map(([agent, line]) => `  ${agent.padEnd(32)}${line}\n`).join("");
}
