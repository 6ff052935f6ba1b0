// Logins of `contextweaver gateway`: servers that want a user to log in get theirs by a page that is printed, and the browser comes back
// to a listener on this machine.
import { createServer } from "node:http";
import type { Incoming, Outgoing } from "node:http";
import { openRecords, redactSecrets } from "../index.js";
import type { JsonValue } from "../index.js";
import type { ServerConfig } from "../gateway/config.js";
import { GatewayLogin } from "../gateway/login.js";
import type { LoginModule, LoginRecord } from "../gateway/login.js";
import type { UpstreamReport } from "../gateway/upstream.js";
import { later } from "../gateway/timers.js";
import { pastConflicts } from "../sessions/past-conflicts.js";
import type { SessionStore } from "../storage/storage-types.js";
import { UsageError } from "./options.js";
import { safe } from "./print.js";

const HOST = "127.0.0.1";
const PATH = "/callback";
/** Where logins are kept in a store, beside the pins. */
const RECORDS = "gateway-logins";
/** Logins of a server that fail one after another before a new page has to wait. */
const MOST_FAILURES = 3;
const PAUSE_MS = 60_000;
/** How often the store is looked into while a server waits for its user. */
const WATCH_MS = 2_000;
/** Names of headers by which a server is given credentials. */
const CREDENTIALS = /auth|token|key|secret|cookie/i;

/** How logins are made. */
export interface LoginsOptions {
  readonly client: object;
  readonly servers: readonly ServerConfig[];
  /** Where tokens, registrations and verifiers are kept. Default: in memory. */
  readonly store?: SessionStore | undefined;
  /** Where the browser comes back to. Default: the one of the last time, where there is a store and it is free; else any. */
  readonly port?: number | undefined;
  /** Whether pages are printed; otherwise tokens that are kept are used and renewed, and who has none has to log in elsewhere. */
  readonly is_interactive: boolean;
  /** Whether the gateway serves clients of several users, whom the user should know of who logs in. */
  readonly is_shared: boolean;
  print(text: string): void;
  onError(error: unknown): void;
}

/**
 * Logs in to the servers of a gateway.
 *
 * A login belongs to the gateway: every client that may use the gateway, over HTTP each of its users, uses the server as whoever has
 * logged in. Where users shall be told apart, `forward_headers` passes their own credentials.
 */
export class GatewayLogins {
  readonly #options: LoginsOptions;
  readonly #logins = new Map<string, GatewayLogin>();
  readonly #failures = new Map<string, number>();
  readonly #watched = new Set<string>();
  readonly #waiting = new Map<string, () => void>();
  /** Servers whose login could not be kept: what is in the store is older than what they have. */
  readonly #unkept = new Set<string>();
  #reconnect: (server: string) => Promise<unknown> = () => Promise.resolve();
  #redirect: Promise<string> | undefined;
  #server: ReturnType<typeof createServer> | undefined;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(options: LoginsOptions) {
    this.#options = options;
  }

  /** The provider of a server, for `auth_provider` of `gateway()`: nothing for one that has credentials in the configuration. */
  readonly provider = (server: string, url: string): GatewayLogin | undefined => {
    const config = this.#options.servers.find(({ name }) => name === server);
    if (config === undefined || !mayLogIn(config)) return undefined;
    const { client, is_interactive, is_shared, print } = this.#options;
    const login: GatewayLogin = new GatewayLogin({
      server,
      url,
      oauth: config.oauth,
      client: client as LoginModule,
      ...(is_interactive && { redirect: (before: string | undefined) => this.#listening(before) }),
      hint: is_interactive
        ? `open the page that the gateway has printed on its standard error, or run \`contextweaver gateway login ${safe(server)}\` with its --config and --store`
        : `contextweaver gateway login ${safe(server)} --config … --store …`,
      show: (page) => {
        print(
          `open this page to log in to ${safe(server)}${is_shared ? ", for every client of this gateway" : ""}: ${page.href}\n`,
        );
        this.#watch(login);
      },
      is_shared: this.#options.store !== undefined,
      read: () => this.#read(server),
      write: (change) => this.#write(server, change),
    });
    this.#logins.set(server, login);
    return login;
  };

  /** Says how a server is connected again once its user has logged in. */
  attach(gateway: { reconnect(server: string): Promise<unknown> }): void {
    this.#reconnect = (server) => gateway.reconnect(server);
  }

  close(): void {
    this.#watched.clear();
    this.#server?.close();
  }

  /** Waits until a user has logged in to a server. */
  finished(server: string): Promise<void> {
    return new Promise((done) => void this.#waiting.set(server, done));
  }

  /** Waits for a login that another program keeps in the store: clients of programs show nobody what these print. */
  #watch(login: GatewayLogin): void {
    const { server } = login;
    if (!this.#options.store || this.#watched.has(server)) return;
    this.#watched.add(server);
    const look = async (): Promise<void> => {
      // Its own user was faster, or the gateway has ended.
      if (!this.#watched.has(server)) return;
      if (!(await login.isDoneElsewhere())) return wait();
      await this.#loggedIn(server);
    };
    const wait = (): void => void later(WATCH_MS, () => void look().catch(this.#options.onError));
    wait();
  }

  async #read(server: string): Promise<LoginRecord | undefined> {
    const { store } = this.#options;
    if (!store || this.#unkept.has(server)) return undefined;
    return (await openRecords<JsonValue>(store.session(RECORDS), { salvage: true })).get(server) as
      | LoginRecord
      | undefined;
  }

  /** Keeps a record: one at a time, and again where another gateway with the same store wrote meanwhile. */
  #write(server: string, change: (kept: LoginRecord | undefined) => LoginRecord): Promise<void> {
    const written = this.#writing.then(() => this.#written(server, change));
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async #written(server: string, change: (kept: LoginRecord | undefined) => LoginRecord): Promise<void> {
    const { store } = this.#options;
    if (!store) return void change(undefined);
    try {
      await pastConflicts(async () => {
        const records = await openRecords<JsonValue>(store.session(RECORDS), { salvage: true });
        const kept = this.#unkept.has(server) ? undefined : (records.get(server) as LoginRecord | undefined);
        await records.set(server, change(kept) as unknown as JsonValue).save();
      });
      this.#unkept.delete(server);
    } catch (error) {
      // What cannot be kept is used all the same.
      this.#unkept.add(server);
      change(undefined);
      this.#options.onError(error);
    }
  }

  /** Opens the listener, if it is not open. */
  #listening(before: string | undefined): Promise<string> {
    this.#redirect ??= this.#listen(before).catch((error: unknown) => {
      this.#redirect = undefined;
      throw error;
    });
    return this.#redirect;
  }

  async #listen(before: string | undefined): Promise<string> {
    const { port } = this.#options;
    const last = before !== undefined && URL.canParse(before) ? Number(new URL(before).port) : 0;
    // Authorization servers that compare the whole address know the last one.
    if (port === undefined && last > 0) {
      try {
        return await this.#listenAt(last);
      } catch {
        // Somebody else has it by now: the gateway registers itself anew.
      }
    }
    return this.#listenAt(port ?? 0);
  }

  #listenAt(port: number): Promise<string> {
    const server = createServer(
      (incoming, outgoing) => void this.#answer(incoming, outgoing).catch(this.#options.onError),
    );
    return new Promise((done, fail) => {
      server.on("error", (error) =>
        fail(new UsageError(`cannot listen on ${HOST}:${port} for logins: ${error.code ?? "unknown"}`, "input")),
      );
      server.listen(port, HOST, () => {
        this.#server = server;
        // Nobody waits for a login when all else has ended.
        server.unref();
        done(`http://${HOST}:${server.address().port}${PATH}`);
      });
    });
  }

  async #answer({ method = "GET", url = "/", headers }: Incoming, outgoing: Outgoing): Promise<void> {
    const [path = "", query] = /^([^?]*)(.*)$/s.exec(url)?.slice(1) ?? [];
    const asked = new URLSearchParams(query);
    const own = new URL(await (this.#redirect ?? Promise.resolve(`http://${HOST}`))).host;
    // Some authorization servers send browsers to this machine by its name alone.
    if (headers["host"] !== own && headers["host"] !== own.replace(HOST, "localhost"))
      return page(outgoing, 403, "Not here", "This address is for this machine alone.");
    if (method !== "GET" || path !== PATH)
      return page(outgoing, 404, "Nothing is here", "A browser comes here from a login.");
    const login = await this.#of(asked.get("state") ?? "");
    if (login === undefined)
      return page(
        outgoing,
        400,
        "This login is not known",
        "It was not begun by this gateway, or has come to an end. Open the page that the gateway has printed last.",
      );
    const { server } = login;
    const { print } = this.#options;
    try {
      await login.finish(asked);
    } catch (error) {
      const reason = redactSecrets(error instanceof Error ? error.message : String(error)).slice(0, 500);
      print(`the login to ${safe(server)} failed: ${safe(reason)}\n`);
      page(
        outgoing,
        400,
        `The login to ${server} failed`,
        `${reason}. You may close this window; the gateway prints a new page.`,
      );
      return this.#failed(server);
    }
    this.#failures.delete(server);
    print(`logged in to ${safe(server)}\n`);
    page(outgoing, 200, `You are logged in to ${server}`, "You may close this window.");
    await this.#loggedIn(server);
  }

  /** Connects a server anew whose user has logged in, here or elsewhere. */
  async #loggedIn(server: string): Promise<void> {
    this.#watched.delete(server);
    await this.#reconnect(server);
    this.#waiting.get(server)?.();
  }

  async #of(state: string): Promise<GatewayLogin | undefined> {
    for (const login of this.#logins.values()) if (state !== "" && (await login.isOwn(state))) return login;
    return undefined;
  }

  /** Tries again, for a new page; a login that fails by itself is not begun again and again. */
  async #failed(server: string): Promise<void> {
    const failures = (this.#failures.get(server) ?? 0) + 1;
    this.#failures.set(server, failures);
    if (failures < MOST_FAILURES) {
      await this.#reconnect(server);
      return;
    }
    later(PAUSE_MS, () => void this.#reconnect(server).catch(this.#options.onError));
  }
}

/** Whether a server waits for its user to log in. */
export function waitsForLogin({ state }: UpstreamReport): boolean {
  return state.status === "unavailable" && state.awaits === "login";
}

/** Whether a server is one that a user may log in to: it has no credentials that would be in the way. */
export function mayLogIn({ transport, oauth, forward_headers = [], per_user = {} }: ServerConfig): boolean {
  if (transport.type === "stdio" || oauth?.grant === "client_credentials") return false;
  return (
    oauth !== undefined ||
    ![...Object.keys(transport.headers), ...Object.keys(per_user), ...forward_headers].some((name) =>
      CREDENTIALS.test(name),
    )
  );
}

/** Answers a browser. The address has a code, which goes nowhere from here. */
function page(outgoing: Outgoing, status: number, title: string, text: string): void {
  const body = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escaped(title)}</title><h1>${escaped(title)}</h1><p>${escaped(text)}</p></html>\n`;
  outgoing.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    connection: "close",
  });
  outgoing.write(new TextEncoder().encode(body));
  outgoing.end();
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
