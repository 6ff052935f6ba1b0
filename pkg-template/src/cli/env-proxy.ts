// The proxy that the environment names for the web, as behind a company's firewall: requests of the program go through it, and requests
// of an agent to the program do not.
import http from "node:http";
import process from "node:process";

/** Variables of an environment. */
export type Env = Readonly<Record<string, string | undefined>>;

const NAMES = ["HTTP_PROXY", "HTTPS_PROXY"] as const;
/** Answers here, whatever stands before the web. */
const LOCAL = ["localhost", "127.0.0.1"];

/** What goes past that proxy, with this machine in it, by both spellings; nothing where no proxy is named. */
export function pastProxy(env: Env): Readonly<Record<"NO_PROXY" | "no_proxy", string>> | undefined {
  if (!namedIn(env)) return undefined;
  const given = (env["no_proxy"] || env["NO_PROXY"]) ?? "";
  const names = given.split(/[\s,]+/).filter((name) => name !== "");
  const list = names.includes("*") ? given : [...new Set([...names, ...LOCAL])].join(",");
  return { NO_PROXY: list, no_proxy: list };
}

/**
 * Sends the requests of this process through that proxy, from Node 24.14 on. Where Node cannot, it says on standard error what can be
 * done. Bun and Deno do so of themselves.
 */
export function useEnvironmentProxy(): void {
  const { env, versions, execArgv } = process;
  const past = pastProxy(env);
  const isOn =
    env["NODE_USE_ENV_PROXY"] === "1" ||
    [...execArgv, env["NODE_OPTIONS"] ?? ""].some((text) => text.includes("--use-env-proxy"));
  if (!past || isOn || versions["bun"] !== undefined || versions["deno"] !== undefined) return;
  if (http.setGlobalProxyFromEnv) {
    http.setGlobalProxyFromEnv({ ...env, ...past });
    return;
  }
  const hint = process.allowedNodeEnvironmentFlags.has("--use-env-proxy")
    ? "start with NODE_USE_ENV_PROXY=1, or take Node 24.14 or later"
    : "take Node 24.14 or later";
  process.stderr.write(`contextweaver: requests do not go through ${namedIn(env)}: ${hint}\n`);
}

/** The variable that names a proxy. */
function namedIn(env: Env): string | undefined {
  return NAMES.flatMap((name) => [name, name.toLowerCase()]).find((name) => (env[name] ?? "") !== "");
}
