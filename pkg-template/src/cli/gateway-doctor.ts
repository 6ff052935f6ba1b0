// `contextweaver gateway doctor`: what is wrong with a configuration or a server, and how to mend it.
import process from "node:process";
import { ContextWeaverError } from "../index.js";
import { notPassed } from "../gateway/program-transport.js";
import { gateway as createGateway } from "../mcp-server.js";
import { withServers } from "../gateway/gateway.js";
import type { Gateway, GatewayOptions, GatewayServerEvent } from "../gateway/gateway.js";
import type { ConfigWarning, ServerConfig, ServersConfig } from "../gateway/config.js";
import type { ListingReport, OverriddenTool } from "../gateway/runtime-types.js";
import type { UpstreamReport } from "../gateway/upstream.js";
import { waitsForLogin } from "./gateway-login.js";
import { overrideText } from "./gateway-report.js";
import type { CommandLine } from "./options.js";
import { painter, safe, safeJson } from "./print.js";
import type { Paint, Printed } from "./print.js";

/** One thing that is wrong. */
interface Problem {
  /** `error`: a server cannot be used; `warning`: it can, with less than it has; `note`: what is worth knowing, and may be meant. */
  readonly severity: "error" | "warning" | "note";
  readonly server?: string;
  readonly message: string;
  readonly hint?: string;
}

interface Examined {
  readonly problems: readonly Problem[];
  readonly overrides: readonly OverriddenTool[];
  readonly servers: readonly { readonly report: UpstreamReport; readonly listing?: ListingReport }[];
}

/** Findings about one server that are told. */
const MAX_FINDINGS = 5;
/** Names of variables that are told. */
const MAX_VARIABLES = 20;

/** A line that says that a variable of the environment is missing. */
const MISSES =
  /^(?=.*\b(?:environment variable|env var|required|missing|not set|must be set|not provided)).*?\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b/;

/** Examines the servers of a configuration, each by connecting to it; the exit code is 1 when something is wrong. */
export async function doctor(
  { values }: CommandLine,
  config: ServersConfig,
  options: GatewayOptions,
): Promise<Printed> {
  const { servers, problems, overrides } = await examined(config, options);
  const all = [...ofConfig(config), ...problems, ...ofEnvironment(config)];
  const code = all.some(({ severity }) => severity === "error") ? 1 : 0;
  if (values["json"] === true)
    return {
      text: `${safeJson({ servers: servers.map(({ report, listing }) => ({ ...report, ...(listing && { listing }) })), overrides, problems: all })}\n`,
      code,
    };
  const paint = painter(values["color"]);
  const rows = servers.map(({ report, listing }) => row(report, listing, paint));
  const told = all.map((problem) => problemText(problem, paint));
  const isRight = all.every(({ severity }) => severity === "note");
  return { text: `${[...rows, "", ...told, ...(isRight ? ["nothing is wrong"] : [])].join("\n")}\n`, code };
}

async function examined(config: ServersConfig, options: GatewayOptions): Promise<Examined> {
  const listings = new Map<string, ListingReport>();
  const errors: unknown[] = [];
  const all: GatewayOptions = {
    ...options,
    token: false,
    on_server: ({ server, report }: GatewayServerEvent) => void (report && listings.set(server, report)),
    on_error: (error) => void errors.push(error),
  };
  if (config.servers.length === 0)
    return {
      problems:
        config.warnings.length > 0
          ? []
          : [{ severity: "error", message: "there is no server in `mcpServers` or `servers`" }],
      overrides: [],
      servers: [],
    };
  const { gateway, refused } = opened(all, config);
  const known = new Set(config.warnings);
  try {
    await gateway.ready();
    const servers = (await gateway.servers()).map((report) => ({ report, listing: listings.get(report.name) }));
    const { overrides, unmatched_rules } = gateway.stats();
    const problems = [
      ...refused,
      ...unmatched_rules.map(
        ({ path, tool }): Problem => ({ severity: "warning", message: `${path}: no tool is called \`${tool}\`` }),
      ),
      ...overrides.flatMap(ofOverride),
      ...gateway.warnings.filter((warning) => !known.has(warning)).map(ofWarning),
      ...servers.flatMap(({ report, listing }) => [...ofServer(report), ...(listing ? ofListing(listing) : [])]),
      ...errors.map(
        (error): Problem => ({ severity: "warning", message: error instanceof Error ? error.message : String(error) }),
      ),
    ];
    return {
      problems,
      overrides,
      servers: servers.map(({ report, listing }) => ({ report, ...(listing && { listing }) })),
    };
  } finally {
    await gateway.close();
  }
}

/** Makes the gateway; without what of the configuration's options is refused, since its servers can be examined all the same. */
function opened(
  options: GatewayOptions,
  config: ServersConfig,
): { readonly gateway: Gateway; readonly refused: readonly Problem[] } {
  const refused: Problem[] = [];
  const given = Object.keys(config.gateway ?? {});
  let [left, servers] = [options as Readonly<Record<string, unknown>>, config.servers];
  for (;;) {
    try {
      return { gateway: createGateway(withServers(left as GatewayOptions, { ...config, servers })), refused };
    } catch (error) {
      if (!ContextWeaverError.is(error)) throw error;
      const { code, message, path = "", hint } = error;
      const steps = path.split("/").slice(1).map(unescaped);
      const [name = ""] = steps;
      const isGiven = given.includes(name);
      refused.push({
        severity: "error",
        message: `${isGiven ? `/gateway${path}` : path}: ${message}`,
        ...(hint !== undefined && { hint }),
      });
      // Of a value that is wrong nobody knows what else of its option depends on it; a field that nobody knows is nobody's.
      if (isGiven && name in left) left = without(left, code === "UNKNOWN_FIELD" ? steps : [name]);
      else if (servers.some(({ policy }) => policy !== undefined)) servers = servers.map(withoutPolicy);
      else throw error;
    }
  }
}

/** The same value without what is at a place, which is copied on the way to it. */
function without<T extends Readonly<Record<string, unknown>>>(value: T, [name = "", ...rest]: readonly string[]): T {
  const inner = value[name];
  const next = rest.length > 0 && typeof inner === "object" && inner !== null && rest[0]! in inner;
  if (!next) return Object.fromEntries(Object.entries(value).filter(([other]) => other !== name)) as T;
  const changed = without(inner as Readonly<Record<string, unknown>>, rest);
  return { ...value, [name]: Array.isArray(inner) ? Object.values(changed) : changed };
}

/** A step of a JSON pointer as it is meant. */
function unescaped(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** The same server; what its policy allows is nothing that is examined. */
function withoutPolicy(server: ServerConfig): ServerConfig {
  const { policy, ...rest } = server;
  return policy === undefined ? server : rest;
}

/** Variables that programs may miss: not one is given them unless its entry names it. */
function ofEnvironment({ servers }: ServersConfig): Problem[] {
  const programs = servers.filter(({ transport, disabled }) => transport.type === "stdio" && !disabled);
  const named = new Set(
    programs.flatMap(({ transport }) => (transport.type === "stdio" ? Object.keys(transport.env) : [])),
  );
  const missing = programs.length === 0 ? [] : notPassed(process.env).filter((name) => !named.has(name));
  if (missing.length === 0) return [];
  const [first = ""] = missing;
  const shown =
    missing.length > MAX_VARIABLES
      ? [...missing.slice(0, MAX_VARIABLES), `${missing.length - MAX_VARIABLES} more`]
      : missing;
  return [
    {
      severity: "note",
      message: `programs are not given ${shown.join(", ")} of this environment`,
      hint: `where one needs it: "env": { "${first}": "\${${first}}" } in its entry`,
    },
  ];
}

function ofWarning({ code, file, path, message, hint }: ConfigWarning): Problem {
  return {
    severity: code === "LEFT_OUT" ? "error" : "warning",
    message: `${file} ${path}: ${message}`,
    ...(hint !== undefined && { hint }),
  };
}

function ofConfig({ warnings, servers }: ServersConfig): Problem[] {
  const idle = servers
    .filter(({ disabled }) => disabled)
    .map(
      ({ name }): Problem => ({
        severity: "warning",
        server: name,
        message: "it is disabled",
        hint: "remove `disabled` to use it",
      }),
    );
  return [...warnings.map(ofWarning), ...idle];
}

function ofServer(report: UpstreamReport): Problem[] {
  const { name, state, stderr = [], problems = [] } = report;
  const left = problems.map(
    ({ kind, list, message }): Problem => ({
      severity: "warning",
      server: name,
      message: kind === "failed" ? `its ${list.replaceAll("_", " ")} cannot be listed: ${message}` : message,
    }),
  );
  if (state.status === "ready") return left;
  const reason = state.status === "unavailable" ? state.reason : "it has not answered yet";
  // Where it waits, the reason itself says what to do.
  const hint = waitsForLogin(report)
    ? undefined
    : hintFor(state.status === "unavailable" ? state.failure.status : undefined, reason, stderr);
  const last = stderr
    .slice(-3)
    .filter((line) => !reason.includes(line))
    .map((line) => `its last words: ${line}`);
  return [
    { severity: "error", server: name, message: [reason, ...last].join("\n    "), ...(hint !== undefined && { hint }) },
    ...left,
  ];
}

/** What people do about the failures that are common. */
function hintFor(status: number | undefined, reason: string, stderr: readonly string[]): string | undefined {
  if (status === 401 || status === 403)
    return "it needs credentials: `headers` with `Authorization`, or `oauth`, in its entry of the configuration";
  if (status === 404 || status === 405)
    return "nothing is at this address: most servers are at a path such as /mcp or /sse";
  if (status !== undefined && status >= 500) return "the server itself fails; try again later, or look at its log";
  if (/ENOENT|no such program/.test(reason))
    return "`command` names no program of PATH: give its full path, or install it";
  if (/EACCES/.test(reason)) return "the program may not be run: chmod +x, or start it by its interpreter";
  if (/ECONNREFUSED/.test(reason)) return "nothing listens there: start the server, or mend `url`";
  if (/ENOTFOUND|EAI_AGAIN/.test(reason)) return "the host of `url` has no address: mend its name, or the network";
  if (/certificate|TLS|SSL/i.test(reason))
    return "the certificate of the server is not trusted: NODE_EXTRA_CA_CERTS names one of your own";
  if (/time/i.test(reason))
    return "it was started and says nothing: run its command by hand; `npx -y` waits for no question";
  const variable = [...stderr, reason].map((line) => MISSES.exec(line)?.[1]).find(Boolean);
  if (variable !== undefined)
    return `it misses a variable: "env": { "${variable}": "\${${variable}}" } in its entry, and the value in the environment`;
  if (/closed|exit|ended/i.test(reason))
    return "it ends at once: run its command by hand with the same `args` and `env`";
  return undefined;
}

function ofListing({ server, quarantined, skipped, mended, findings, not_told }: ListingReport): Problem[] {
  const problems = [
    ...quarantined.map(
      ({ name, reasons }): Problem => ({
        severity: "warning",
        server,
        message: `the tool ${name} is in quarantine: ${reasons.map(({ message }) => message).join("; ")}`,
        hint: `read it, then: contextweaver gateway accept ${server} ${name} --config … --store …`,
      }),
    ),
    ...skipped.map(
      ({ list, index, reason }): Problem => ({
        severity: "warning",
        server,
        message: `entry ${index} of its ${list} is left out: ${reason}`,
      }),
    ),
  ];
  const changed = mended.slice(0, MAX_FINDINGS).map(
    ({ list, name, path, note }): Problem => ({
      severity: "warning",
      server,
      message: `${name} of its ${list} is malformed at ${path || "/"}: ${note}`,
    }),
  );
  // What was mended is told already.
  const worse = findings.filter(
    ({ severity, code }) =>
      severity !== "info" &&
      code !== "field-ignored" &&
      code !== "hint-ignored" &&
      !code.startsWith("schema-malformed"),
  );
  const told = worse
    .slice(0, MAX_FINDINGS)
    .map(({ item_id, message }): Problem => ({ severity: "warning", server, message: `${item_id}: ${message}` }));
  const rest = worse.length - told.length + mended.length - changed.length + not_told;
  return [
    ...problems,
    ...changed,
    ...told,
    ...(rest > 0
      ? [
          {
            severity: "warning",
            server,
            message: `${rest} more findings: contextweaver lint tells them of its tools/list`,
          } as const,
        ]
      : []),
  ];
}

/** What an override does, beside what its server says, and what it breaks. */
function ofOverride(one: OverriddenTool): Problem[] {
  const { server, tool, problems } = one;
  const [what, original] = overrideText(one);
  const note: Problem = {
    severity: "note",
    server,
    message: `the tool ${tool} is overridden: ${what}`,
    ...(original && { hint: original }),
  };
  return [
    note,
    ...problems.map(({ path, message }): Problem => ({ severity: "warning", server, message: `${path}: ${message}` })),
  ];
}

function row(report: UpstreamReport, listing: ListingReport | undefined, paint: Paint): string {
  const { name, type, state } = report;
  const mark =
    state.status === "ready"
      ? paint("ok   ", "green")
      : waitsForLogin(report)
        ? paint("LOGIN", "yellow")
        : paint("FAIL ", "red");
  const has = listing
    ? `${listing.tools} tools (${listing.tokens} tokens), ${listing.resources} resources, ${listing.prompts} prompts`
    : "";
  const version =
    state.status === "ready" && state.protocol_version !== undefined ? `, MCP ${state.protocol_version}` : "";
  return `${mark} ${safe(name)} (${type}${version})${has && `: ${has}`}`;
}

function problemText({ severity, server, message, hint }: Problem, paint: Paint): string {
  const head =
    severity === "error" ? paint("error", "red", "bold") : severity === "warning" ? paint("warning", "yellow") : "note";
  return `${head} ${server === undefined ? "" : `${safe(server)}: `}${safe(message)}${hint === undefined ? "" : `\n    ${safe(hint)}`}`;
}
