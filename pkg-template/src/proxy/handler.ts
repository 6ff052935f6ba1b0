// The proxy as a handler of requests: who may ask, where a request goes, and what happens when something goes wrong here.
import { keptRequest } from "../boundary/abort.js";
import { utf8 } from "../boundary/guard.js";
import { Access, hostName, isLoopback } from "../mcp/mcp-access.js";
import { ANTHROPIC } from "./anthropic-dialect.js";
import { readUpTo } from "../boundary/bytes.js";
import { bodyOf, objectOf } from "./bodies.js";
import type { ReadBody } from "../boundary/bytes.js";
import { CHAT } from "./chat-dialect.js";
import { Conversations } from "./conversations.js";
import type { Place } from "./conversations.js";
import { Unchangeable } from "./conversation.js";
import type { Conversation, Outgoing, Request as Asked } from "./conversation.js";
import { objectsOf } from "./dialect.js";
import type { Dialect } from "./dialect.js";
import { Exchange, modelOf } from "./exchange.js";
import { CODE_ASSIST, GEMINI } from "./gemini-dialect.js";
import { BYPASS_HEADER, STATUS_HEADER, TOKEN_HEADER, requestHeaders, responseHeaders } from "./headers.js";
import { checkedOptions } from "./options.js";
import type { CheckedOptions, ProxyLogEntry, ProxyOptions } from "./options.js";
import { JsonMembers } from "./json-members.js";
import { RESPONSES } from "./responses-dialect.js";
import { routeOf } from "./routes.js";
import type { ProxyApi, Route } from "./routes.js";
import type { ProxyHooks } from "./hook-types.js";
import { ModelCalls } from "./model-calls.js";
import { credentialOf, groupOf, headOf, nearestPrints, printsOf } from "./sessions.js";
import { StatsBook } from "./stats.js";
import type { ProxyStats } from "./stats.js";
import { StoredConversations } from "./stored-conversations.js";
import { quietly } from "../telemetry/quietly.js";
import { TRACE_KEYS, traceContextIn } from "../tools/trace-context.js";
import { ContextWeaverError } from "contextweaver";
import type { Hooks } from "contextweaver";

/** Answers requests of agents: those of a model by the provider, with a prompt that keeps to the budget. */
export interface Proxy {
  (request: Request): Promise<Response>;
  /** What was counted. */
  stats(): ProxyStats;
  /** Gives the memory back. */
  free(): void;
}

const DIALECTS: Readonly<Partial<Record<ProxyApi, Dialect>>> = {
  "openai-chat": CHAT,
  "openai-responses": RESPONSES,
  anthropic: ANTHROPIC,
  "anthropic-count": ANTHROPIC,
  gemini: GEMINI,
  "code-assist": CODE_ASSIST,
};
/** Counts what a call would send. */
const COUNT: ProxyApi = "anthropic-count";
/** Statuses by which a provider refuses a request. */
const REFUSALS = [400, 413, 422];
/** The status where the provider cannot be reached. */
const UNREACHABLE = 502;
/** The status of an answer that nobody reads: the client has gone. */
const CLIENT_GONE = 499;
const CORS = { methods: "GET, POST", request: "*", response: STATUS_HEADER };

/** Makes a proxy. */
export function proxy(given: ProxyOptions): Proxy {
  const options = checkedOptions(given);
  const access = new Access(given.token, given.origins, CORS);
  const handling = new Handling(options, access, given.token);
  const handler = (request: Request): Promise<Response> => handling.handle(request);
  return Object.assign(handler, { stats: () => handling.stats(), free: () => handling.free() });
}

/** The hooks of a log, which knows no other. */
function logHooks({ model_call_completed: _, ...hooks }: ProxyHooks): Hooks {
  return hooks;
}

/** A request on its way. */
interface Passage {
  readonly request: Request;
  /** Tells of its calls of a model. */
  readonly calls: ModelCalls;
  readonly route: Route;
  /** Ends what is under way at the provider. */
  readonly gone: AbortController;
}

/** A call of a model that is read. */
interface Call extends Passage {
  /** Names whose it is. */
  readonly credential: Promise<string>;
}

/** A request whose conversation is known. */
interface Prepared {
  readonly conversation: Conversation;
  readonly asked: Asked;
  readonly outgoing: Outgoing;
}

class Handling {
  readonly #options: CheckedOptions;
  readonly #access: Access;
  readonly #token: string | false;
  readonly #stats = new StatsBook();
  readonly #conversations: Conversations;
  readonly #stored: StoredConversations | undefined;
  /** Without it nobody can tell whose conversations there are. */
  #secret: string | undefined;

  constructor(options: CheckedOptions, access: Access, token: string | false) {
    [this.#options, this.#access, this.#token] = [options, access, token];
    const { budget_tokens, thrift, mask, prices, limits, store } = options;
    const own = { budget_tokens, thrift, mask, prices, hooks: options.hooks && logHooks(options.hooks) };
    this.#conversations = new Conversations(own, limits, this.#stats);
    const { max_conversations } = limits;
    this.#stored =
      store &&
      new StoredConversations(this.#conversations, {
        store,
        options: own,
        max_conversations,
        failed: (error) => this.#failed(error),
      });
  }

  stats(): ProxyStats {
    return this.#stats.read(this.#conversations.list());
  }

  free(): void {
    this.#conversations.free();
  }

  async handle(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const cors = this.#access.cors(request);
    const refusal = this.#refusal(request, url, cors !== undefined);
    if (refusal) return refusal;
    const preflight = this.#access.preflight(request);
    const response = preflight ?? (await this.#answered(request, url));
    if (Object.keys(cors ?? {}).length === 0) return response;
    for (const [name, value] of Object.entries(cors ?? {})) response.headers.set(name, value);
    return response;
  }

  async #answered(request: Request, url: URL): Promise<Response> {
    if (url.pathname === "/stats" && request.method === "GET") return Response.json(this.stats());
    const route = routeOf(request.method, url, request.headers, this.#options.upstreams);
    if (!route) return told(400, "path_refused", "the path leads elsewhere than it says");
    this.#stats.requests += 1;
    const gone = new AbortController();
    // Not every runtime tells when a client goes.
    const { signal } = request as { readonly signal?: AbortSignal | null };
    signal?.addEventListener("abort", () => gone.abort(signal.reason), { once: true });
    if (signal?.aborted) gone.abort(signal.reason);
    return this.#called({ request, route, gone, calls: this.#callsOf(request, route) });
  }

  #callsOf({ headers }: Request, { provider, target, api, model }: Route): ModelCalls {
    const about = {
      provider,
      operation: provider === "gemini" ? ("generate_content" as const) : ("chat" as const),
      ...(model !== undefined && { model: model.slice(0, 100) }),
      server: { address: target.hostname, port: Number(target.port || (target.protocol === "http:" ? 80 : 443)) },
      trace: traceContextIn(
        Object.fromEntries(TRACE_KEYS.map((name) => [name, headers.get(name) ?? undefined])),
        TRACE_KEYS,
      ),
    };
    const isCall = api !== undefined && api !== COUNT;
    return new ModelCalls(isCall ? this.#options.hooks?.model_call_completed : undefined, about, (error) =>
      this.#failed(error),
    );
  }

  /** Refuses who may not ask: another host's name means that a page has pointed it here. */
  #refusal(request: Request, url: URL, mayPageAsk: boolean): Response | undefined {
    const host = hostName(request.headers.get("host") ?? url.host).toLowerCase();
    const { hosts } = this.#options;
    const isKnown = hosts ? hosts.includes(host) : this.#token !== false || isLoopback(host);
    if (!isKnown) return told(403, "host_refused", "the proxy does not answer by this name");
    if (!mayPageAsk) return told(403, "origin_refused", "pages of this origin may not ask");
    const headers = {
      get: (name: string) =>
        name === "authorization" ? `Bearer ${request.headers.get(TOKEN_HEADER) ?? ""}` : request.headers.get(name),
    };
    const isPreflight = this.#access.preflight(request) !== undefined;
    if (!isPreflight && !this.#access.isAuthorized({ method: request.method, url: request.url, headers }))
      return told(401, "token_needed", `send the token of the proxy as ${TOKEN_HEADER}`);
    return undefined;
  }

  async #called(passage: Passage): Promise<Response> {
    const { request, route } = passage;
    const dialect = route.api && DIALECTS[route.api];
    const isCount = route.api === COUNT;
    if (!dialect) return this.#passed(passage, request.body);
    const own = request.headers.get(BYPASS_HEADER);
    if (own !== null && own !== "0") return this.#passed(passage, request.body, "requested");
    if (request.headers.has("content-encoding")) return this.#passed(passage, request.body, "encoded");
    // While the body comes.
    const call: Call = {
      ...passage,
      credential: this.#secretOf().then((secret) =>
        credentialOf(request.headers, route.target, secret, this.#options.single_user),
      ),
    };
    void call.credential.catch(() => undefined);
    const read = await readUpTo(request.body, this.#options.limits.max_body_bytes).catch(() => undefined);
    if (!read) return told(CLIENT_GONE, "client_gone", "the request broke off");
    if (read.rest) return this.#passed(passage, bodyOf(read), "too_large");
    if (this.#options.forward) return this.#forwarded(call, dialect, read.bytes);
    if (isCount) return this.#counted(call, dialect, read.bytes);
    const prepared = await this.#prepared(call, dialect, read);
    return typeof prepared === "string"
      ? this.#passed(passage, read.bytes, prepared)
      : this.#exchanged(passage, read, prepared);
  }

  /** Counts what is sent of a conversation that is shortened; another is counted as it came. */
  async #counted(passage: Call, dialect: Dialect, bytes: Uint8Array<ArrayBuffer>): Promise<Response> {
    const read = await this.#read(passage, dialect, bytes).catch(() => "unread");
    const text = typeof read === "string" ? undefined : this.#conversations.find(read)?.counted(read.asked);
    if (text === undefined) return this.#passed(passage, bytes);
    const response = await this.#sent(passage, text);
    if (REFUSALS.includes(response.status)) {
      await response.body?.cancel();
      return this.#passed(passage, bytes);
    }
    this.#stats.passed += 1;
    return new Response(response.body, {
      status: response.status,
      headers: responseHeaders(response.headers, "shortened"),
    });
  }

  /** Reads a request and whose it is; a text says why it cannot be changed. */
  async #read(
    { request, route, calls, credential }: Call,
    dialect: Dialect,
    bytes: Uint8Array,
  ): Promise<Place | string> {
    const said = objectOf(bytes);
    if (said) calls.named(modelOf(said.body));
    const [bare] = said ? objectsOf([dialect.within === undefined ? said.body : said.body[dialect.within]]) : [];
    const asked = bare && dialect.read(bare);
    if (!said || !asked) return "unread";
    if (typeof asked === "string") return asked;
    // Where the request is a part of the body, the model stands beside it.
    const model = route.model ?? (bare === said.body ? undefined : said.body["model"]);
    const body = model === undefined ? bare : { ...bare, model };
    const group = await groupOf(await credential, request.headers, bare, dialect.format);
    const members = new JsonMembers(said.text, dialect.field, dialect.within);
    const prints = printsOf(
      asked.messages,
      members.elements,
      nearestPrints(this.#conversations.prints(group), members.elements),
    );
    return { group, dialect, asked: { text: said.text, members, body, asked, prints, head: headOf(bare) } };
  }

  /** The secret is of the process; where what it tells apart outlives that, it is the token, or one of the store. */
  async #secretOf(): Promise<string> {
    const { forward, store } = this.#options;
    if ((forward ?? store) && this.#token !== false) return this.#token;
    this.#secret ??= (await this.#stored?.secret()) ?? crypto.randomUUID();
    return this.#secret;
  }

  /** Hands a call on to whoever has its conversation; one that belongs to none passes from here. */
  async #forwarded(passage: Call, dialect: Dialect, bytes: Uint8Array<ArrayBuffer>): Promise<Response> {
    const { request, gone } = passage;
    try {
      const read = await this.#read(passage, dialect, bytes);
      if (typeof read === "string") return await this.#passed(passage, bytes, read);
      const init = { method: request.method, headers: request.headers, body: bytes, signal: gone.signal };
      const response = await this.#options.forward?.(read.group).fetch(keptRequest(request.url, init));
      if (!response) return await this.#passed(passage, bytes, "internal");
      this.#stats.forwarded += 1;
      return new Response(response.body, response);
    } catch (error) {
      if (gone.signal.aborted) return told(CLIENT_GONE, "client_gone", "the client has gone");
      return this.#passed(passage, bytes, this.#reason(error));
    }
  }

  /** Says what is sent, or why it is what came. */
  async #prepared(passage: Call, dialect: Dialect, { bytes }: ReadBody): Promise<Prepared | string> {
    try {
      const read = await this.#read(passage, dialect, bytes);
      if (typeof read === "string") return read;
      const begin = (conversation: Conversation): Prepared | string =>
        conversation.isRefused ? "refused" : this.#begun(conversation, read.asked);
      return this.#stored ? await this.#stored.begin(read, begin) : begin(this.#opened(read));
    } catch (error) {
      return this.#reason(error);
    } finally {
      this.#conversations.prune();
    }
  }

  /** Finds the conversation of a request in memory. */
  #opened(place: Place): Conversation {
    const conversation = this.#conversations.of(place);
    if (!conversation.isOpen) conversation.open();
    return conversation;
  }

  /** Begins with a request of a conversation, which stays in memory until it is answered. */
  #begun(conversation: Conversation, asked: Asked): Prepared {
    conversation.hold();
    try {
      return { conversation, asked, outgoing: conversation.begin(asked) };
    } catch (error) {
      conversation.release();
      throw error;
    }
  }

  async #exchanged(passage: Passage, { bytes }: ReadBody, prepared: Prepared): Promise<Response> {
    const { conversation, asked, outgoing } = prepared;
    const { isWhole, tokens, tokens_without, cut } = outgoing;
    const sent = isWhole ? "whole" : "shortened";
    const { calls } = passage;
    const send = (body: string | Uint8Array<ArrayBuffer>): Promise<Response> => {
      calls.begin({ sent });
      return this.#sent(passage, body);
    };
    let isOver = false;
    const ended = (): void => {
      if (!isOver) conversation.release();
      if (passage.gone.signal.aborted) calls.end({ error_type: "cancelled" });
      isOver = true;
    };
    // A client that goes before anything comes reads nothing to its end.
    passage.gone.signal.addEventListener("abort", ended, { once: true });
    calls.begin({ sent, tokens, tokens_without, ...(cut !== undefined && !isWhole && { cut }) });
    const response = await this.#sent(passage, isWhole ? bytes : outgoing.text);
    if (!response.ok) conversation.failed(outgoing);
    if (!isWhole && REFUSALS.includes(response.status)) {
      await response.body?.cancel();
      calls.end();
      const original = await this.#passed(passage, bytes, "refused");
      // What is refused as it came, too, was not refused for what was changed.
      conversation.isRefused = original.ok;
      await this.#stored?.save(conversation);
      ended();
      return original;
    }
    const exchange = new Exchange({
      conversation,
      request: asked,
      stats: this.#stats,
      max_rounds: this.#options.max_rounds,
      send,
      calls,
      abort: (reason) => passage.gone.abort(reason),
      failed: (error) => this.#failed(error),
      save: async () => this.#stored?.save(conversation),
      ended,
    });
    if (isWhole) this.#stats.whole += 1;
    else this.#stats.shortened += 1;
    const status = isWhole
      ? `whole; tokens=${tokens}`
      : `shortened; tokens=${tokens}; without=${tokens_without}${cut === undefined ? "" : `; cut=${cut}`}`;
    this.#log(passage, {
      status: response.status,
      sent,
      tokens,
      tokens_without,
      ...(cut !== undefined && !isWhole && { cut }),
    });
    if (TOLD.has(response)) {
      ended();
      return response;
    }
    try {
      return await exchange.answer(response, outgoing, status);
    } catch (error) {
      // Of an answer that comes at once nothing is told yet when it breaks off.
      calls.end({ error_type: passage.gone.signal.aborted ? "cancelled" : "broken_off" });
      ended();
      if (!passage.gone.signal.aborted) this.#failed(error);
      return told(UNREACHABLE, "broken_off", "the provider's answer broke off");
    }
  }

  /** Sends a request as it came. */
  async #passed(
    passage: Passage,
    body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null,
    reason?: string,
  ): Promise<Response> {
    const { calls, gone } = passage;
    calls.begin({ sent: "bypassed", ...(reason !== undefined && { reason }) });
    const response = await this.#sent(passage, body);
    if (reason === undefined) this.#stats.passed += 1;
    else this.#stats.bypassed(reason);
    this.#log(passage, {
      status: response.status,
      sent: reason === undefined ? "passed" : "bypassed",
      ...(reason !== undefined && { reason }),
    });
    if (TOLD.has(response)) return response;
    const status = reason === undefined ? "passed" : `bypassed; reason=${reason}`;
    const passed = calls.watched(response.body, (why) => gone.abort(why));
    return new Response(passed, {
      status: response.status,
      statusText: response.statusText,
      headers: responseHeaders(response.headers, status),
    });
  }

  /** Sends a body to where the request goes. Where that cannot be reached, an error says so as the provider would. */
  async #sent(
    { request, route, gone, calls }: Passage,
    body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null,
  ): Promise<Response> {
    const { method, headers } = request;
    const hasBody = method !== "GET" && method !== "HEAD" && body !== null;
    // A redirect is the client's to follow: its key is for this address.
    const init = {
      method,
      headers: requestHeaders(headers),
      signal: gone.signal,
      redirect: "manual",
      ...(hasBody && { body: typeof body === "string" ? utf8(body) : body, duplex: "half" }),
    };
    try {
      const response = await this.#options.send(keptRequest(route.target, init));
      calls.answered(response.status);
      return response;
    } catch {
      calls.end({ error_type: gone.signal.aborted ? "cancelled" : "unreachable" });
      if (gone.signal.aborted) return told(CLIENT_GONE, "client_gone", "the client has gone");
      return told(UNREACHABLE, "unreachable", `the provider at ${route.target.host} cannot be reached`);
    }
  }

  /** Why a request passes as it came: a word, as messages of errors may quote what was said. */
  #reason(error: unknown): string {
    if (error instanceof Unchangeable) return error.reason;
    this.#failed(error);
    return ContextWeaverError.is(error) ? error.code.toLowerCase() : "internal";
  }

  #failed(error: unknown): void {
    quietly(() => this.#options.on_error?.(error));
  }

  #log(
    { request, route, calls: { model } }: Passage,
    entry: Omit<ProxyLogEntry, "method" | "path" | "provider" | "model">,
  ): void {
    const { pathname } = new URL(request.url);
    const path = route.api === undefined ? "other" : pathname;
    const about = { method: request.method, path, provider: route.provider, ...(model !== undefined && { model }) };
    const whole = { ...about, ...entry };
    for (const tell of this.#options.told) quietly(() => tell(whole));
  }
}

/** Answers of the proxy itself: what a provider says of itself is another matter. */
const TOLD = new WeakSet<Response>();

/** An error in the form that clients of every provider read. */
function told(status: number, reason: string, message: string): Response {
  const error = { type: "error", error: { type: "contextweaver_proxy", code: status, reason, message } };
  const response = Response.json(error, { status, headers: { [STATUS_HEADER]: `failed; reason=${reason}` } });
  TOLD.add(response);
  return response;
}
