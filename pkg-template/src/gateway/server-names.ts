// Names of servers as tools can carry them: files have names of people, of registries and of every script.
import type { ServerConfig } from "./config-types.js";

/** What the runtime takes for the name of a server. */
const LEGAL = /^[\w.-]{1,64}$/;
/** Characters that are kept of a name: room is left for a mark. */
const MAX_KEPT = 48;

/** Whether a name can stand as it is. @internal */
export function isLegalName(name: string): boolean {
  return LEGAL.test(name);
}

/**
 * A legal name for one that is not, the same each time; one of `taken` gets a mark that is made of the whole name. @internal
 */
export function legalName(name: string, taken: ReadonlySet<string>): string {
  const made =
    legalText(name)
      .replace(/[*?]+/g, "-")
      .replace(/^[-_.]+|[-_.]+$/g, "")
      .slice(0, MAX_KEPT) || `server-${markOf(name)}`;
  return taken.has(made) ? `${made}-${markOf(name)}` : made;
}

/** Letters lose their accents, and what is no letter, digit, `_`, `.` or `-` becomes `-`; `*` and `?` of globs stay. */
function legalText(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replace(/[^\w.*?-]+/g, "-");
}

/** FNV-1a over the code units, as 8 hexadecimal digits. */
function markOf(name: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}

/** The same policy, with names of servers as they are called here: a rule must not pass by a server because it was renamed. @internal */
export function withLegalNames(policy: unknown, servers: readonly ServerConfig[]): unknown {
  const { rules } = (policy ?? {}) as { readonly rules?: unknown };
  if (!Array.isArray(rules)) return policy;
  const names = new Map(
    servers.flatMap(({ name, configured_name }) => (configured_name === undefined ? [] : [[configured_name, name]])),
  );
  const legal = (text: unknown): unknown =>
    typeof text !== "string" ? text : (names.get(text) ?? (names.size === 0 ? text : legalText(text)));
  const renamed = rules.map((rule: unknown) => {
    if (typeof rule !== "object" || rule === null || Array.isArray(rule)) return rule;
    const { server, namespace } = rule as { readonly server?: unknown; readonly namespace?: unknown };
    return {
      ...rule,
      ...(server !== undefined && { server: legal(server) }),
      ...(namespace !== undefined && { namespace: names.get(namespace as string) ?? namespace }),
    };
  });
  return { ...(policy as object), rules: renamed };
}

/** The same overrides, by names of servers as they are called here. @internal */
export function withLegalKeys(overrides: unknown, servers: readonly ServerConfig[]): unknown {
  if (typeof overrides !== "object" || overrides === null || Array.isArray(overrides)) return overrides;
  const renamed = servers.flatMap(({ name, configured_name }) =>
    configured_name === undefined ? [] : [{ name, start: `${configured_name}__` }],
  );
  const legal = (key: string): string => {
    const found = renamed.find(({ start }) => key.startsWith(start));
    return found ? `${found.name}__${key.slice(found.start.length)}` : key;
  };
  return Object.fromEntries(Object.entries(overrides).map(([key, value]) => [legal(key), value as unknown]));
}
