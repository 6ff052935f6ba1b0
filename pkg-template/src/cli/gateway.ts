// `contextweaver gateway`: any MCP servers behind one small front, over standard input and output or HTTP.
import { readFileSync } from "node:fs";
import process from "node:process";
import { ContextWeaverError, version } from "../index.js";
import { examineServers, parseConfigText, readServers } from "../gateway/config.js";
import type { ConfigDocument, ServersConfig } from "../gateway/config.js";
import { gateway as createGateway } from "../mcp-server.js";
import { withServers } from "../gateway/gateway.js";
import type { Gateway, GatewayOptions, GatewaySdk, GatewayServerEvent } from "../gateway/gateway.js";
import type { UpstreamReport } from "../gateway/upstream.js";
import type { ServerStdioSdk } from "../gateway/server-sdk.js";
import { useEnvironmentProxy } from "./env-proxy.js";
import { addServer } from "./gateway-add.js";
import { doctor } from "./gateway-doctor.js";
import { GatewayLogins, mayLogIn, waitsForLogin } from "./gateway-login.js";
import { GatewayLog, servePage } from "./gateway-page.js";
import { callsText, serverLine, statsText } from "./gateway-report.js";
import { isLocal, listen, webRequest } from "./http-server.js";
import { UsageError, wholeNumber } from "./options.js";
import type { CommandLine } from "./options.js";
import { painter, safe, safeJson } from "./print.js";
import type { Printed } from "./print.js";
import { openedStore } from "./stored.js";

/** The official SDK, bundled with the program so that nothing need be installed beside it. */
const SDK: string = "./mcp-sdk.js";
const PORT = 8322;
const AWAKE_MS = 60_000;
const MODES = ["auto", "firewall", "search"];

interface BundledSdk {
  readonly server: object;
  readonly server_stdio: ServerStdioSdk;
  readonly client: object;
  readonly client_stdio: object;
}

/** Runs the command, and its parts `add`, `doctor`, `login` and `accept`. */
export async function gatewayCommand(line: CommandLine): Promise<string | Printed> {
  useEnvironmentProxy();
  const [part, ...rest] = line.files;
  if (part === "doctor" && rest.length === 0) {
    const config = examineServers(documentsOf(line), process.env as Record<string, string>);
    const { store: _, ...options } = (await optionsOf(line, config, await bundled())).options;
    void _;
    return doctor(line, config, options);
  }
  if (part === "accept") return accept(line, rest);
  if (part === "add") return addServer(line, rest);
  if (part === "login") return logIn(line, rest);
  if (part !== undefined) throw new UsageError(`gateway knows add, doctor, login and accept, not '${part}'`);
  for (const name of ["from", "kind", "dry-run", "force"])
    if (line.values[name] !== undefined) throw new UsageError(`--${name} goes with gateway add`);
  if (line.values["inspect"] === true) return inspect(line);
  return serve(line);
}

/** Reads the files of `--config`. */
export function configOf(line: CommandLine): ServersConfig {
  return readServers(documentsOf(line), process.env as Record<string, string>);
}

function documentsOf({ values }: CommandLine): readonly ConfigDocument[] {
  const files = values["config"] as readonly string[] | undefined;
  if (files === undefined)
    throw new UsageError(
      "gateway needs --config: a file with mcpServers or servers, as desktop clients and editors write it",
    );
  return files.map((file) => ({ file, value: parsed(file) }));
}

function parsed(file: string): unknown {
  let text: string;
  try {
    text = new TextDecoder().decode(readFileSync(file));
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${(error as { code?: string }).code ?? "unknown"}`, "input");
  }
  try {
    return parseConfigText(text, file);
  } catch (error) {
    if (ContextWeaverError.is(error))
      throw new UsageError(`${file}: ${error.message}${error.hint === undefined ? "" : `\n  ${error.hint}`}`, "input");
    throw error;
  }
}

async function bundled(): Promise<BundledSdk> {
  return (await import(SDK)) as BundledSdk;
}

/** Options of the command line go before those of the file. With `logs_in`, pages are printed for servers whose user has to log in. */
async function optionsOf(
  { values }: CommandLine,
  config: ServersConfig,
  sdk: GatewaySdk,
  logs_in = false,
): Promise<{ options: GatewayOptions; logins: GatewayLogins }> {
  const mode = values["mode"] as string | undefined;
  if (mode !== undefined && !MODES.includes(mode)) throw new UsageError(`--mode is one of ${MODES.join(", ")}`);
  const result_tokens = wholeNumber(values, "result-tokens");
  const path = values["store"] as string | undefined;
  const store = path === undefined ? undefined : await openedStore(path);
  const logins = new GatewayLogins({
    client: sdk.client,
    servers: config.servers,
    store,
    port: wholeNumber(values, "login-port"),
    is_interactive: logs_in,
    is_shared: values["http"] === true,
    print: (text) => void process.stderr.write(`contextweaver gateway: ${text}`),
    onError,
  });
  const options = {
    ...(config.gateway as GatewayOptions | undefined),
    ...(mode !== undefined && { mode: mode as NonNullable<GatewayOptions["mode"]> }),
    ...(store && { store }),
    ...(result_tokens !== undefined && { result_tokens }),
    auth_provider: logins.provider,
    sdk: { server: sdk.server, client: sdk.client, ...(sdk.client_stdio && { client_stdio: sdk.client_stdio }) },
    on_error: onError,
  };
  return { options, logins };
}

function onError(error: unknown): void {
  const text = ContextWeaverError.is(error)
    ? `${error.code}: ${error.message}`
    : error instanceof Error
      ? error.message
      : String(error);
  process.stderr.write(`contextweaver gateway: ${safe(text)}\n`);
}

/** What is said of the start goes to standard error: standard output may be the protocol. */
function reporter(line: CommandLine, count: number): (event: GatewayServerEvent) => void {
  const paint = painter(line.values["color"] === "always" ? "always" : "never");
  const began = Date.now();
  const told = new Map<string, string>();
  process.stderr.write(`contextweaver gateway ${version()}: ${count} server${count === 1 ? "" : "s"}\n`);
  return (event) => {
    const text = serverLine(event, paint, Date.now() - began);
    if (text === undefined || told.get(event.server) === text) return;
    told.set(event.server, text);
    process.stderr.write(`${text}\n`);
  };
}

async function serve(line: CommandLine): Promise<string> {
  const { values } = line;
  if (values["page-port"] !== undefined && values["page"] !== true)
    throw new UsageError("--page-port goes with --page");
  for (const name of ["port", "host", "token"])
    if (values["http"] !== true && values[name] !== undefined) throw new UsageError(`--${name} goes with --http`);
  const config = configOf(line);
  for (const { file, path, message } of config.warnings)
    process.stderr.write(`contextweaver gateway: ${safe(`${file} ${path}: ${message}`)}\n`);
  const sdk = await bundled();
  const { options, logins } = await optionsOf(line, config, sdk, true);
  const report = reporter(line, config.servers.filter(({ disabled }) => !disabled).length);
  const log = values["page"] === true ? new GatewayLog() : undefined;
  const heard: GatewayOptions = {
    ...options,
    on_server: (event) => (report(event), log?.onServer(event)),
    ...(log && { hooks: log.hooks, on_error: (error: unknown) => (onError(error), log.onError(error)) }),
  };
  const started = async (gateway: Gateway): Promise<void> => {
    if (log) await servePage(gateway, log, wholeNumber(values, "page-port") ?? 0);
  };
  return values["http"] === true
    ? serveHttp(line, heard, config, logins, started)
    : serveStdio(heard, config, sdk, logins, started);
}

async function serveStdio(
  options: GatewayOptions,
  config: ServersConfig,
  sdk: BundledSdk,
  logins: GatewayLogins,
  started: (gateway: Gateway) => Promise<void>,
): Promise<string> {
  const gateway = createGateway(withServers({ ...options, token: false }, config));
  logins.attach(gateway);
  await started(gateway);
  const transport = new sdk.server_stdio.StdioServerTransport();
  const ended = new Promise<void>((done) => {
    process.stdin.once("end", done);
    process.stdin.once("close", done);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, done);
  });
  // Connecting begins before the client asks.
  void gateway.ready().catch(onError);
  await gateway.serve(transport, sdk.server_stdio);
  await ended;
  await stopped(gateway);
  process.exit(0);
}

async function serveHttp(
  line: CommandLine,
  options: GatewayOptions,
  config: ServersConfig,
  logins: GatewayLogins,
  started: (gateway: Gateway) => Promise<void>,
): Promise<string> {
  const { values } = line;
  const host = (values["host"] as string | undefined) ?? "127.0.0.1";
  const token = (values["token"] as string | undefined) ?? process.env["CONTEXTWEAVER_TOKEN"];
  if (token === undefined && !isLocal(host))
    throw new UsageError("beyond this machine the gateway needs --token, or CONTEXTWEAVER_TOKEN");
  const gateway = createGateway(withServers({ ...options, token: token ?? false }, config));
  logins.attach(gateway);
  const shared = config.servers.filter((server) => !server.disabled && mayLogIn(server)).map(({ name }) => safe(name));
  if (shared.length > 0)
    process.stderr.write(
      `contextweaver gateway: a login to ${shared.join(", ")}, where one is asked for, counts for every client of this gateway\n`,
    );
  const at = await listen(host, wholeNumber(values, "port") ?? PORT, (incoming, outgoing) =>
    gateway(webRequest(incoming, outgoing)),
  );
  process.stdout.write(`listening on ${at}/mcp\n`);
  await started(gateway);
  void gateway.ready().catch(onError);
  await new Promise<void>((done) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, done);
  });
  await stopped(gateway);
  process.exit(0);
}

/** Ends everything, and says what it was good for. */
async function stopped(gateway: Gateway): Promise<void> {
  const stats = gateway.stats();
  await gateway.close().catch(onError);
  process.stderr.write(`contextweaver gateway: ${callsText(stats)}; ${stats.totals.saved_tokens} tokens saved\n`);
}

/** What a running gateway has counted, or what the servers of a configuration have. */
async function inspect(line: CommandLine): Promise<string> {
  const { values } = line;
  const print = (stats: ReturnType<Gateway["stats"]>): string =>
    values["json"] === true ? `${safeJson(stats)}\n` : statsText(stats, painter(values["color"]));
  if (values["config"] === undefined) {
    const address = `http://${(values["host"] as string | undefined) ?? "127.0.0.1"}:${wholeNumber(values, "port") ?? PORT}/stats`;
    const token = (values["token"] as string | undefined) ?? process.env["CONTEXTWEAVER_TOKEN"];
    const response = await fetch(address, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    }).catch(() => undefined);
    if (!response)
      throw new UsageError(`no gateway answers at ${address}; with --config the servers are started for this`, "input");
    if (!response.ok)
      throw new UsageError(
        `the gateway at ${address} answered ${response.status}${response.status === 401 ? ": give its --token, or CONTEXTWEAVER_TOKEN" : ""}`,
        "input",
      );
    return print((await response.json()) as ReturnType<Gateway["stats"]>);
  }
  return briefly(line, (gateway) => print(gateway.stats()));
}

/** Connects to the servers of a configuration for as long as something is asked; programs would keep this one alive. */
async function briefly<T>(line: CommandLine, ask: (gateway: Gateway) => T | Promise<T>): Promise<T> {
  const config = configOf(line);
  const { options } = await optionsOf(line, config, await bundled());
  const gateway = createGateway(
    withServers({ ...options, token: false, on_server: reporter(line, config.servers.length) }, config),
  );
  try {
    await gateway.ready();
    return await ask(gateway);
  } finally {
    await gateway.close();
  }
}

/** Takes tools out of quarantine, in the store that the next start reads. */
async function accept(line: CommandLine, [server, tool, ...more]: readonly string[]): Promise<string> {
  if (server === undefined || more.length > 0)
    throw new UsageError("gateway accept <server> [tool] --config <file> --store <path>");
  if (line.values["store"] === undefined) throw new UsageError("accept needs --store: what is accepted is kept there");
  const names = await briefly(line, (gateway) => gateway.accept(server, tool));
  return line.values["json"] === true
    ? `${safeJson({ accepted: names })}\n`
    : names.length === 0
      ? "nothing was in quarantine\n"
      : `${names.map((name) => `accepted ${safe(name)}\n`).join("")}`;
}

/** Has the user log in to the servers of these names, or to all that wait for it; a gateway with the same store then uses what is kept. */
async function logIn(line: CommandLine, names: readonly string[]): Promise<Printed> {
  if (line.values["store"] === undefined)
    throw new UsageError("login needs --store: what the gateway is given is kept there");
  const config = configOf(line);
  const able = config.servers.filter((server) => !server.disabled && mayLogIn(server));
  const unknown = names.find((name) => !able.some((server) => server.name === name));
  if (unknown !== undefined)
    throw new UsageError(
      `no user logs in to '${unknown}'; servers that one may log in to: ${able.map(({ name }) => name).join(", ") || "none"}`,
    );
  const servers = able.filter(({ name }) => names.length === 0 || names.includes(name));
  const { options, logins } = await optionsOf(line, config, await bundled(), true);
  const { store: _, ...others } = options;
  void _;
  const gateway = createGateway(withServers({ ...others, token: false }, { ...config, servers }));
  logins.attach(gateway);
  // The listener of the browser keeps nobody alive.
  const awake = setInterval(() => undefined, AWAKE_MS);
  try {
    await gateway.ready();
    const waiting = (await gateway.servers()).filter(waitsForLogin).map(({ name }) => name);
    await Promise.all(waiting.map((name) => logins.finished(name)));
    const reports = await gateway.servers();
    const isReady = ({ state }: UpstreamReport): boolean => state.status === "ready";
    const said = ({ name, state }: UpstreamReport): string =>
      state.status === "unavailable" ? safe(state.reason) : waiting.includes(name) ? "logged in" : "needs no login";
    return {
      text: reports.map((report) => `${safe(report.name)}: ${said(report)}\n`).join(""),
      code: reports.every(isReady) ? 0 : 1,
    };
  } finally {
    clearInterval(awake);
    logins.close();
    await gateway.close();
  }
}
