// What may be said of a configured server, and what must not: its secrets.
import type { ServerConfig, ServerDescription, ServerTransport } from "./config-types.js";
import type { Expansion } from "./expand.js";

/** What was expanded in a server's settings. */
const expansions = new WeakMap<
  ServerConfig,
  { readonly names: readonly string[]; readonly values: ReadonlyMap<string, string> }
>();

/** Shorter values are words of every other sentence: to mask them would hide nothing and garble everything. @internal */
export const SHORTEST_SECRET = 6;
/** How a header says what kind of credential follows. */
const SCHEME = /^(?:bearer|basic|digest|apikey|api-key|token)$/i;
const NODE_INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** Describes a server for people: names of variables and headers, none of their values. */
export function describeServer(config: ServerConfig): ServerDescription {
  const {
    name,
    configured_name,
    transport,
    connection,
    disabled,
    timeout_ms,
    forward_headers,
    per_user,
    oauth,
    redact,
  } = config;
  const variables = expansions.get(config)?.names ?? [];
  return {
    name,
    ...(configured_name !== undefined && { configured_name }),
    ...described(transport, (text) => asWritten(text, config)),
    ...(variables.length > 0 && { variables }),
    ...(forward_headers && { forward_headers }),
    ...(per_user && { per_user: Object.keys(per_user) }),
    ...(oauth && { oauth: true }),
    ...(redact !== undefined && { redact }),
    connection,
    disabled,
    timeout_ms,
  };
}

/** A text with variables in place of their values: what they stand for is nobody's business. */
function asWritten(text: string, config: ServerConfig): string {
  const known = [...(expansions.get(config)?.values ?? [])]
    .filter(([value]) => value.length >= SHORTEST_SECRET)
    .sort(([a], [b]) => b.length - a.length);
  let shown = text;
  // In addresses they are encoded, and hosts are in lower case.
  for (const [value, written] of known)
    for (const form of new Set([value, encodeURI(value), encodeURIComponent(value), value.toLowerCase()]))
      shown = shown.replaceAll(form, written);
  return shown;
}

function described(
  transport: ServerTransport,
  shown: (text: string) => string,
): Pick<ServerDescription, "type" | "command" | "args" | "url" | "env" | "headers"> {
  if (transport.type === "stdio") {
    const { type, command, args, env } = transport;
    return { type, command: shown(command), args: args.length, env: Object.keys(env) };
  }
  const { type, url, headers } = transport;
  return { type, url: shown(shownUrl(url)), headers: Object.keys(headers) };
}

/** An address without what may be a key: values of the query, the fragment, and parts of the path that are long and have digits. */
function shownUrl(address: string): string {
  try {
    const { protocol, host, pathname, searchParams } = new URL(address);
    const path = pathname.split("/").map((part) => (isKey(part) ? "…" : part));
    const query = [...searchParams.keys()].map((key) => `${key}=…`).join("&");
    return `${protocol}//${host}${path.join("/")}${query && `?${query}`}`;
  } catch {
    return "…";
  }
}

/** Keeps what was expanded, and lets the config be printed as its description only. @internal */
export function concealed(config: ServerConfig, { names, values }: Expansion): ServerConfig {
  const describe = (): ServerDescription => describeServer(config);
  expansions.set(config, { names, values });
  for (const key of ["toJSON", NODE_INSPECT]) Object.defineProperty(config, key, { value: describe });
  return Object.freeze(config);
}

/** Every value of a config that must not be seen: whole, longest first, so that none is left over in part. @internal */
export function secretsOf(config: ServerConfig): readonly string[] {
  const { transport, oauth } = config;
  const values = [...(expansions.get(config)?.values.keys() ?? [])];
  if (transport.type === "stdio") values.push(...Object.values(transport.env).filter((value) => !isPlace(value)));
  else {
    for (const value of Object.values(transport.headers)) values.push(value, ...value.split(" "));
    values.push(...queryOf(transport.url));
  }
  const { client_secret, private_key } = oauth ?? {};
  if (client_secret !== undefined) values.push(client_secret);
  // Whoever shows a key in part shows a line of it.
  if (private_key !== undefined)
    values.push(private_key, ...private_key.split(/\s+/).filter((line) => line.length >= 16));
  return [...new Set(values)]
    .filter((value) => value.length >= SHORTEST_SECRET && !SCHEME.test(value))
    .sort((a, b) => b.length - a.length);
}

/** Whether a variable of a program is the path of a file or folder, which errors of its server name. */
function isPlace(value: string): boolean {
  return /^(?:~?\/|[A-Za-z]:[\\/])/.test(value) && !value.split(/[\\/]/).some(isKey);
}

function isKey(part: string): boolean {
  return part.length >= 16 && /\d/.test(part);
}

function queryOf(address: string): string[] {
  try {
    return [...new URL(address).searchParams.values()];
  } catch {
    return [];
  }
}
