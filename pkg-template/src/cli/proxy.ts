// `contextweaver proxy`: one endpoint before the providers of models, on this machine.
import process from "node:process";
import { ContextWeaverError } from "../index.js";
import type { Proxy, ProxyStats } from "../proxy.js";
import { OFFICIAL } from "../proxy/routes.js";
import { linesFor } from "./agents.js";
import type { Behind } from "./agents.js";
import { useEnvironmentProxy } from "./env-proxy.js";
import { isLocal, listen, webRequest } from "./http-server.js";
import { UsageError, share, wholeNumber } from "./options.js";
import type { CommandLine } from "./options.js";
import { safe } from "./print.js";
import { openedStore } from "./stored.js";

/** Imported by the name of the package when the command runs: no other needs it. */
const PROXY: string = "contextweaver/proxy";
const PORT = 8323;
const BUDGET_TOKENS = 60_000;

/** Runs the command, until the process ends. */
export async function proxyCommand({ files, values }: CommandLine): Promise<string> {
  if (files.length > 0)
    throw new UsageError("proxy takes no arguments; `contextweaver run -- <agent>` starts one behind it");
  const host = (values["host"] as string | undefined) ?? "127.0.0.1";
  const token = (values["token"] as string | undefined) ?? process.env["CONTEXTWEAVER_TOKEN"];
  if (token === undefined && !isLocal(host))
    throw new UsageError("beyond this machine the proxy needs --token, or CONTEXTWEAVER_TOKEN");
  const { proxy, address } = await started(values, {
    host,
    port: wholeNumber(values, "port") ?? PORT,
    token: token ?? false,
  });
  process.stdout.write(`listening on ${address}\n${linesFor(address, process.env)}`);
  await new Promise<void>((done) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, done);
  });
  process.stderr.write(`contextweaver proxy: ${summary(proxy.stats())}\n`);
  process.exit(0);
}

/** Where a proxy listens. */
interface Listening {
  readonly host: string;
  readonly port: number;
  readonly token: string | false;
}

/** Starts a proxy as the command line says. `behind` is what it does not name. */
export async function started(
  values: CommandLine["values"],
  { host, port, token }: Listening,
  { upstreams, ...behind }: Behind = {},
): Promise<{ proxy: Proxy; address: string }> {
  useEnvironmentProxy();
  const { proxy: make } = (await import(PROXY)) as typeof import("../proxy.js");
  const named = Object.fromEntries(
    Object.keys(OFFICIAL).flatMap((name) => {
      const address = values[name.replace("_", "-")] as string | undefined;
      return address === undefined ? [] : [[name, address]];
    }),
  );
  const thrift = share(values, "thrift");
  const path = values["store"] as string | undefined;
  const proxy = make({
    budget_tokens: wholeNumber(values, "budget") ?? BUDGET_TOKENS,
    token,
    single_user: token === false,
    ...behind,
    upstreams: { ...upstreams, ...named },
    mask: values["mask"] === true,
    ...(thrift !== undefined && { thrift }),
    ...(path !== undefined && { store: await openedStore(path) }),
    on_error: onceEach((error) => `contextweaver proxy: ${safe(whyPassed(error))}\n`),
    ...(values["verbose"] === true && { debug: (line) => void process.stderr.write(`${safe(line)}\n`) }),
  });
  const address = await listen(host, port, (incoming, outgoing) => proxy(webRequest(incoming, outgoing)));
  return { proxy, address };
}

/** Writes each line once: the agent may draw on the terminal that it comes to. */
function onceEach(line: (error: unknown) => string): (error: unknown) => void {
  const written = new Set<string>();
  return (error) => {
    const text = line(error);
    if (!written.has(text)) process.stderr.write(text);
    written.add(text);
  };
}

/** Says why a request passed as it came, without the error's message, which may quote what was said. */
function whyPassed(error: unknown): string {
  if (ContextWeaverError.is(error) && error.code === "BUDGET_EXCEEDED")
    return "requests pass as they come: instructions, tools and the newest turn alone do not fit; take a larger --budget";
  const { name, code, stack } = error as { readonly name?: string; readonly code?: string; readonly stack?: string };
  const at = stack?.split("\n").find((line) => /^\s+at /.test(line));
  return `a request passed as it came: ${code ?? name ?? "error"}${at === undefined ? "" : ` ${at.trim()}`}`;
}

/** Says what a proxy was good for. */
export function summary({
  whole,
  shortened,
  bypassed,
  inner_calls,
  costs: { cost, cost_without, cuts, cached_tokens },
}: ProxyStats): string {
  const calls = whole + shortened + Object.values(bypassed).reduce((sum, count) => sum + count, 0);
  if (calls === 0)
    return "no calls of a model: the agent has found its provider in another way, see docs/proxy.md#what-run-sets";
  const price = cost_without > 0 ? Math.round((100 * cost) / cost_without) : 100;
  const reasons = Object.entries(bypassed).map(([reason, count]) => `${count} bypassed (${reason})`);
  const parts = [
    `${calls} calls of a model, ${shortened} with a shorter prompt, cut ${cuts} times`,
    `input for ${price} % of the price without, by our forecast`,
    // Little room beside instructions and tools is cut again and again, and each time new to the provider's cache.
    ...(price > 100 && cuts > 0 ? ["a larger --budget would cost less"] : []),
    ...(cached_tokens > 0 ? [`${Math.round(cached_tokens)} tokens were in the provider's cache`] : []),
    ...(inner_calls > 0 ? [`${inner_calls} calls of drilldown and recall answered`] : []),
    ...reasons,
  ];
  return parts.join("; ");
}
