// The server that one client of the gateway sees: requests go to the runtime, which says what becomes of them, and to the upstreams.
import { ContextWeaverError } from "../errors.js";
import type { DrilldownInput } from "../adapters/read-on.js";
import type { JsonObject } from "../types.js";
import { PendingCalls, UpstreamCall, canElicit } from "./bridge.js";
import type { CallClient, CallProgress } from "./bridge.js";
import { extensionsOf, registerExtensions } from "./extensions.js";
import { INTERNAL_ERROR, INVALID_PARAMS, MISSING_CAPABILITY, RESOURCE_NOT_FOUND, URL_ELICITATION_REQUIRED } from "./rpc-codes.js";
import type { GatewayRuntime } from "./runtime.js";
import type { ForwardedCall, NextStep, StoredPart } from "./runtime-types.js";
import type { Fields, McpRequest, RequestContext, SdkMcpServer, SdkServer, SdkStateCodec, ServerSdk } from "./server-sdk.js";
import type { GatewaySession } from "./session.js";
import { failureOf, maskedText } from "./failure.js";
import { firstKnown, isUnknown } from "./first-known.js";
import type { GatewayCallMethod, TraceContext } from "./hook-types.js";
import { asToolResult } from "./primitive-result.js";
import type { ResourceSubscriptions } from "./subscriptions.js";
import type { Upstream, UpstreamConnection } from "./upstream.js";
import { clientOf } from "./watch.js";
import type { GatewayWatch, WatchedCall, WatchedClient } from "./watch.js";

const CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_INFO = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL = "io.modelcontextprotocol/logLevel";
const PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion";
/** The question by which a call is confirmed. */
const CONFIRM = "confirm";
const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/** What a client sends back with its answers, signed. */
export interface RoundState {
  /** The key of the call that waits. */
  readonly waiting: string;
}

/** A call whose client has to answer before it goes on. */
interface Waiting {
  readonly call: UpstreamCall;
  /** Whose it is: no other may answer. */
  readonly session: string;
  /** Goes on with what the client answered. */
  readonly resume: (context: RequestContext) => Promise<Fields>;
  readonly watched?: WatchedCall | undefined;
}

/** The calls that hooks are told of, by their requests: a call that asks the client goes on with another one. */
const watching = new WeakMap<RequestContext, WatchedCall>();

/** What the fronts of a gateway share. */
export interface FrontHost {
  readonly sdk: ServerSdk;
  readonly runtime: GatewayRuntime;
  readonly info: Fields;
  readonly state: SdkStateCodec<RoundState>;
  readonly waiting: PendingCalls<Waiting>;
  readonly subscriptions: ResourceSubscriptions;
  /** Where hooks hear of calls. */
  readonly watch: GatewayWatch | undefined;
  /** Keys of `_meta` that pass. */
  readonly metaAllowed: readonly string[];
  /** The schema of a tool of which clients repeat arguments in headers (SEP-2243), by the name it is shown under. */
  schemaWithHeaders(session: string, caller: string, name: string): Fields | undefined;
  upstream(name: string): Upstream;
  /** Extensions of the protocol that servers declare, by server. */
  extensions(): ReadonlyMap<string, Fields>;
  /** Tells a client that it sees other tools now. */
  toolsChanged(front: ClientFront): void;
  /** Resolves when the servers have answered, or should have. */
  started(): Promise<void>;
  /** Headers of a request that servers may be given, in lower case. */
  forwarded(request: Request): Readonly<Record<string, string>>;
  onError(error: unknown): void;
}

/** The client of a front. */
export interface FrontClient {
  readonly is_modern: boolean;
  /** Whether it is there for one request, of any of its caller's clients: of revision 2026-07-28 over HTTP. */
  readonly is_passing: boolean;
  /** Who may see what of whom. */
  readonly caller: string;
  /** What the runtime and the upstreams call it. */
  readonly key: string;
  readonly results: GatewaySession;
  /** Headers that servers may be given where no request has them, in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Capabilities of the gateway: what no server offers is an empty list. */
const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

/** The server that a client talks to. */
export class ClientFront {
  readonly server: SdkServer;
  /** The same as the SDK's entries take it. */
  readonly product: SdkMcpServer;
  readonly client: FrontClient;
  readonly #host: FrontHost;
  readonly #subscribed = new Map<string, UpstreamConnection>();
  #level: string | undefined;

  /** `called` is the tool that the request is about, where only one request is served: its headers are checked. */
  constructor(host: FrontHost, client: FrontClient, called?: string | null) {
    [this.#host, this.client] = [host, client];
    const { sdk, runtime } = host;
    const extensions = extensionsOf(host.extensions());
    this.product = new sdk.McpServer(host.info, {
      capabilities: { ...CAPABILITIES, ...(extensions && { extensions }) },
      instructions: runtime.instructions(),
      requestState: { verify: (state: string, context: RequestContext) => host.state.verify(state, context) },
    });
    this.server = this.product.server;
    const schema = typeof called === "string" ? host.schemaWithHeaders(client.key, client.caller, called) : undefined;
    // The SDK compares headers with arguments for tools that it knows. It is never the one to answer.
    if (schema && typeof called === "string") this.product.registerTool(called, { inputSchema: sdk.fromJsonSchema(schema) }, () => Promise.resolve({}));
    this.#register();
  }

  /** Whether messages of a level are wanted by a client of the earlier revisions. */
  wants(level: string): boolean {
    return this.#level === undefined || LEVELS.indexOf(level) >= LEVELS.indexOf(this.#level);
  }

  /** Whether the client wants to know when a resource of a connection changes. */
  isSubscribed(uri: string, connection: UpstreamConnection): boolean {
    return this.#subscribed.get(uri) === connection;
  }

  /** Gives up what the client asked for beyond its requests. */
  close(): void {
    for (const [uri, connection] of this.#subscribed) void this.#host.subscriptions.remove(connection, uri).catch(this.#host.onError);
    this.#subscribed.clear();
  }

  /** Subscribes to the resources that a `subscriptions/listen` names. */
  async listen(uris: readonly string[]): Promise<void> {
    for (const uri of uris) await this.#subscribe(uri).catch(this.#host.onError);
  }

  /** Ends that for some of them. */
  unlisten(uris: readonly string[]): void {
    for (const uri of uris) void this.#unsubscribe(uri).catch(this.#host.onError);
  }

  async #unsubscribe(uri: string): Promise<void> {
    const connection = this.#subscribed.get(uri);
    this.#subscribed.delete(uri);
    if (connection) await this.#host.subscriptions.remove(connection, uri);
  }

  #register(): void {
    const { runtime } = this.#host;
    const { key: session, caller } = this.client;
    const list = (method: string, read: () => Fields): void =>
      this.server.setRequestHandler(method, async () => {
        await this.#host.started();
        return read();
      });
    list("tools/list", () => ({ tools: runtime.listTools(session, caller).tools }));
    list("resources/list", () => ({ resources: runtime.listResources(session, caller) }));
    list("resources/templates/list", () => ({ resourceTemplates: runtime.listResourceTemplates(session, caller) }));
    list("prompts/list", () => ({ prompts: runtime.listPrompts(session, caller) }));
    this.server.setRequestHandler("tools/call", (request, context) => this.#rounds("tools/call", context, () => this.#callTool(request, context)));
    this.server.setRequestHandler("resources/read", (request, context) => this.#rounds("resources/read", context, () => this.#readResource(request, context)));
    this.server.setRequestHandler("prompts/get", (request, context) => this.#rounds("prompts/get", context, () => this.#getPrompt(request, context)));
    this.server.setRequestHandler("completion/complete", (request, context) => this.#complete(request, context));
    registerExtensions(this.server, {
      declared: () => this.#host.extensions(),
      started: () => this.#host.started(),
      pass: (server, method, params, context) => this.#pass(server, method, params, context),
      told: (error) => this.#told(error),
      error: (code, message) => this.#error(code, message),
      onError: this.#host.onError,
      is_modern: this.client.is_modern,
    });
    if (this.client.is_modern) return;
    this.server.setRequestHandler("resources/subscribe", async ({ params }, context) => {
      await this.#subscribe(String(params?.["uri"]), context);
      return {};
    });
    this.server.setRequestHandler("resources/unsubscribe", async ({ params }) => {
      await this.#unsubscribe(String(params?.["uri"]));
      return {};
    });
    this.server.setRequestHandler("logging/setLevel", async ({ params }) => {
      this.#level = String(params?.["level"]);
      return {};
    });
  }

  /** Goes on with a call that waits for answers which this request brings, or begins one. */
  async #rounds(method: GatewayCallMethod, context: RequestContext, begin: () => Promise<Fields>): Promise<Fields> {
    const state = context.mcpReq.requestState<RoundState>();
    if (!state) return watchedRun(this.#host.watch?.begin(method, this.#watchedClient(context)), context, begin);
    const waiting = this.#host.waiting.take(state.waiting, this.client.key);
    if (!waiting) throw this.#error(INVALID_PARAMS, "the call does not wait any more: begin it again");
    waiting.call.answer(context.mcpReq.inputResponses ?? {});
    return watchedRun(waiting.watched, context, () => waiting.resume(context));
  }

  /** The client of a call as hooks are told of it. */
  #watchedClient({ mcpReq: { envelope, _meta } }: RequestContext): WatchedClient {
    const { is_modern, caller, key: session } = this.client;
    const client = clientOf(is_modern ? envelope?.[CLIENT_INFO] : this.server.getClientVersion());
    const version = is_modern ? envelope?.[PROTOCOL_VERSION] : this.server.getNegotiatedProtocolVersion();
    return { caller, session, ...(client && { client }), ...(typeof version === "string" && { protocol_version: version }), meta: _meta };
  }

  async #callTool({ params = {} }: McpRequest, context: RequestContext): Promise<Fields> {
    await this.#host.started();
    const { key: session, caller } = this.client;
    const { handle } = (params["arguments"] ?? {}) as Fields;
    const owned = typeof handle === "string" ? await this.client.results.ownerOf(handle) : undefined;
    if (owned) this.#host.runtime.ownHandles(session, [owned]);
    const step = this.#host.runtime.beginCall({
      session,
      caller,
      name: String(params["name"]),
      arguments: (params["arguments"] ?? {}) as JsonObject,
      ...(context.mcpReq._meta !== undefined && { meta: context.mcpReq._meta as JsonObject }),
      can_confirm: canElicit(this.#capabilities(context)),
      now_ms: Date.now(),
    });
    return this.#take(step, context);
  }

  async #take(step: NextStep, context: RequestContext): Promise<Fields> {
    watching.get(context)?.note(step.info);
    if ("reply" in step) return step.reply;
    if ("error" in step) throw this.#error(step.error.code, step.error.message, step.error.data);
    if ("drilldown" in step) return this.#read(step.drilldown, context);
    if ("recall" in step) {
      const { reply, error_type } = await this.client.results.recall(step.recall);
      if (error_type !== undefined) watching.get(context)?.failed(error_type);
      return reply;
    }
    if ("confirm" in step) return this.#confirm(step.confirm, context);
    if ("forward" in step) return this.#forward(step.forward, context);
    if ("read_resource" in step) {
      const { call, server, uri } = step.read_resource;
      return this.#run({ call, server, tool: uri, arguments: {} }, "resources/read", { uri }, context);
    }
    if (!("get_prompt" in step)) throw this.#error(INTERNAL_ERROR, "a call that has not begun cannot be tried again");
    const { call, server, name, arguments: given } = step.get_prompt;
    return this.#run({ call, server, tool: name, arguments: given }, "prompts/get", { name, arguments: given }, context);
  }

  /** Reads a part of a stored result. */
  async #read({ plain = false, ...part }: StoredPart, context: RequestContext): Promise<Fields> {
    const input = part as unknown as DrilldownInput;
    const watched = watching.get(context);
    if (plain) {
      const outcome = await this.client.results.slice(input);
      if ("error" in outcome) watched?.failed(outcome.error.code);
      return this.#host.runtime.viewReply(part.handle, outcome);
    }
    const { reply, error_type } = await this.client.results.read(input);
    if (error_type !== undefined) watched?.failed(error_type);
    return reply;
  }

  /** Has the user confirm a call, by a form without fields. */
  async #confirm({ call, message }: { readonly call: number; readonly message: string }, context: RequestContext): Promise<Fields> {
    const asking = this.#upstreamCall(context);
    const resume = (then: RequestContext): Promise<Fields> => {
      const answer = then.mcpReq.inputResponses?.[CONFIRM] as Fields | undefined;
      return this.#take(this.#host.runtime.confirmCall(call, answer?.["action"] === "accept", Date.now()), then);
    };
    asking.signal.addEventListener("abort", () => this.#host.runtime.cancelCall(call), { once: true });
    const form = { message, requestedSchema: { type: "object", properties: {} }, ...(this.client.is_modern && { mode: "form" }) };
    return this.#ask({ call: asking, resume }, { [CONFIRM]: { method: "elicitation/create", params: form } }, context);
  }

  /** A result by which the client learns what it must answer first. */
  async #ask(asking: Omit<Waiting, "session">, inputRequests: Readonly<Record<string, McpRequest>>, context: RequestContext): Promise<Fields> {
    const key = crypto.randomUUID();
    const watched = watching.get(context);
    // Nobody waits for its end then.
    if (watched) asking.call.signal.addEventListener("abort", () => watched.complete("cancelled"), { once: true });
    this.#host.waiting.put(key, { ...asking, session: this.client.key, watched });
    const requestState = await this.#host.state.mint({ waiting: key }, context);
    return { resultType: "input_required", inputRequests, requestState };
  }

  async #forward(step: ForwardedCall, context: RequestContext): Promise<Fields> {
    return this.#run(step, "tools/call", { name: step.tool, arguments: step.arguments }, context, step);
  }

  /** Sends a request to an upstream until it is answered, and hands the result to whoever keeps it. */
  async #run(about: Answered, method: string, params: Fields, context: RequestContext, step?: ForwardedCall): Promise<Fields> {
    const { runtime } = this.#host;
    const call = this.#upstreamCall(context);
    call.signal.addEventListener("abort", () => runtime.cancelCall(about.call), { once: true });
    const send = (answers?: Fields): void => {
      const envelope = this.#envelope(context);
      call.start(() => this.#send(about.server, call, method, { ...params, ...answers }, { meta: step?.meta, envelope, watched: watching.get(context) }));
    };
    send(answersOf(context));
    const proceed = async (now: RequestContext): Promise<Fields> => {
      for (;;) {
        const progress = await call.next(now);
        const asked = await this.#asked(progress, call, now, send, proceed);
        if (asked) return asked;
        const lacking = this.#lacking(call, progress);
        if (lacking) {
          runtime.cancelCall(about.call);
          throw lacking;
        }
        if ("result" in progress) return this.#finish(about, progress.result, now);
        if (!("error" in progress)) continue;
        const after = runtime.failCall({ call: about.call, failure: failureOf(progress.error, []), random: Math.random() });
        if (!("retry" in after)) return this.#take(after, now);
        await pause(after.retry.after_ms, call.signal);
        send();
      }
    };
    return proceed(context);
  }

  /** What the client must answer before the call goes on: questions of an upstream, an `input_required` result, pages to be opened. */
  async #asked(
    progress: CallProgress,
    call: UpstreamCall,
    context: RequestContext,
    send: (answers?: Fields) => void,
    proceed: (context: RequestContext) => Promise<Fields>,
  ): Promise<Fields | undefined> {
    if ("questions" in progress) return this.#ask({ call, resume: proceed }, progress.questions, context);
    const again = (answersOf: (then: RequestContext) => Fields | undefined) => (then: RequestContext): Promise<Fields> => {
      send(answersOf(then));
      return proceed(then);
    };
    if ("result" in progress) {
      const { resultType, inputRequests, requestState } = progress.result;
      if (resultType !== "input_required") return undefined;
      const state = requestState === undefined ? {} : { requestState };
      const resume = again((then) => ({ ...state, ...answersOf(then) }));
      return this.#ask({ call, resume }, (inputRequests ?? {}) as Record<string, McpRequest>, context);
    }
    const { code, data } = failureOf(progress.error, []);
    if (code !== URL_ELICITATION_REQUIRED || !this.client.is_modern) return undefined;
    const pages = ((data as Fields | undefined)?.["elicitations"] ?? []) as readonly Fields[];
    const requests = pages.map(({ message, url }, at) => [`page-${at + 1}`, { method: "elicitation/create", params: { mode: "url", message, url } }] as const);
    return requests.length > 0 ? this.#ask({ call, resume: again(() => undefined) }, Object.fromEntries(requests), context) : undefined;
  }

  /**
   * Revision 2026-07-28 has an error for what failed since the client cannot answer the server's questions. Servers of the earlier ones
   * cannot know it: for each request it is another client.
   */
  #lacking(call: UpstreamCall, progress: CallProgress): Error | undefined {
    const { lacking } = call;
    if (lacking === undefined || !this.client.is_modern) return undefined;
    const said = "error" in progress ? failureOf(progress.error, []).message : "result" in progress && progress.result["isError"] === true ? textOf(progress.result) : undefined;
    if (said === undefined) return undefined;
    const message = `the server asked for ${Object.keys(lacking).join(", ")}, which the client has not declared: ${maskedText(said, [])}`;
    return this.#error(MISSING_CAPABILITY, message, { requiredCapabilities: lacking });
  }

  async #send(server: string, call: UpstreamCall, method: string, params: Fields, { meta, envelope, watched }: Metadata): Promise<Fields> {
    const upstream = this.#host.upstream(server);
    const connection = this.#connection(upstream, call.context);
    const { onprogress, signal } = call;
    // Which revision it speaks is known then.
    await connection.connected({ signal });
    const send = (trace?: TraceContext): Promise<Fields> => {
      const all = { ...(trace ? withTrace(meta, trace) : meta), ...(connection.era === "modern" && envelope) } as JsonObject;
      return upstream.request(connection, method, params as JsonObject, { signal, meta: all, context: call, ...(onprogress && { onprogress: (progress) => onprogress({ ...progress }) }) });
    };
    if (!watched) return send();
    const { protocolVersion: protocol_version } = connection;
    const name = params["name"];
    return watched.upstream({ method: method as GatewayCallMethod, server, ...(typeof name === "string" && { name }), ...(protocol_version !== undefined && { protocol_version }) }, send);
  }

  async #finish(about: Answered, result: Fields, context: RequestContext): Promise<Fields> {
    const { server, tool: name, arguments: given } = about;
    const digested = await this.client.results.digest({ name, arguments: given, server, result: asToolResult(result) }, (error) => this.#host.onError(error));
    watching.get(context)?.measured(digested);
    const { reply, changed } = this.#host.runtime.finishCall({
      call: about.call,
      reply: digested.result as JsonObject,
      ...(digested.envelope && { envelope: digested.envelope as unknown as JsonObject }),
      measured: {
        tokens: digested.tokens,
        shown_tokens: digested.shown_tokens,
        bytes: digested.bytes,
        is_error: result["isError"] === true,
        ...(digested.handle !== undefined && { handle: digested.handle }),
        ...(digested.envelope && { handles: digested.envelope.artifacts.map(({ handle }) => handle) }),
      },
      now_ms: Date.now(),
    });
    if (changed.tools) this.#host.toolsChanged(this);
    return reply;
  }

  async #readResource({ params = {} }: McpRequest, context: RequestContext): Promise<Fields> {
    await this.#host.started();
    const uri = String(params["uri"]);
    return this.#ofResource(uri, ({ server, uri: known }) => this.#pass(server, "resources/read", { uri: known }, context));
  }

  /** What is done with a resource at the first server that knows it. */
  async #ofResource<T>(uri: string, run: (place: ResourcePlace) => Promise<T>): Promise<T> {
    const places = this.#having(uri);
    if (places.length === 0) throw this.#noResource(uri);
    try {
      return await firstKnown(places, run);
    } catch (error) {
      throw this.#told(error);
    }
  }

  /** The servers that may have a resource. */
  #having(uri: string): readonly ResourcePlace[] {
    const found = this.#found(() => this.#host.runtime.findResource(this.client.key, uri));
    return found?.servers.map((server, place) => ({ server, uri: place === 0 ? found.uri : uri })) ?? [];
  }

  /** What the runtime finds; nothing where there is no such thing. */
  #found<T>(find: () => T): T | undefined {
    try {
      return find();
    } catch (error) {
      if (ContextWeaverError.is(error) && error.code === "NOT_FOUND") return undefined;
      throw error;
    }
  }

  #noResource(uri: string): Error {
    return this.#error(this.client.is_modern ? INVALID_PARAMS : RESOURCE_NOT_FOUND, "Resource not found", { uri });
  }

  async #getPrompt({ params = {} }: McpRequest, context: RequestContext): Promise<Fields> {
    await this.#host.started();
    const name = String(params["name"]);
    const found = this.#found(() => this.#host.runtime.findPrompt(this.client.key, name));
    if (!found) throw this.#error(INVALID_PARAMS, `no prompt is called \`${name.slice(0, 100)}\``);
    try {
      return await this.#pass(found.server, "prompts/get", { ...params, name: found.name }, context);
    } catch (error) {
      throw this.#told(error);
    }
  }

  /** Passes a request on and its result back, as they are. */
  async #pass(server: string, method: string, params: Fields, context: RequestContext): Promise<Fields> {
    const call = this.#upstreamCall(context);
    const { inputResponses: _, requestState: __, _meta, ...own } = params;
    const passing = { meta: this.#passing(context.mcpReq._meta ?? _meta), envelope: this.#envelope(context), watched: watching.get(context) };
    const send = (answers?: Fields): void => call.start(() => this.#send(server, call, method, { ...own, ...answers }, passing));
    send(answersOf(context));
    const proceed = async (now: RequestContext): Promise<Fields> => {
      const progress = await call.next(now);
      const asked = await this.#asked(progress, call, now, send, proceed);
      if (asked) return asked;
      if ("error" in progress) throw progress.error;
      return (progress as { result: Fields }).result;
    };
    return proceed(context);
  }

  /** What of a `_meta` passes. */
  #passing(meta: unknown): Fields {
    const given = (typeof meta === "object" && meta !== null ? meta : {}) as Fields;
    return Object.fromEntries(Object.entries(given).filter(([key]) => this.#host.metaAllowed.includes(key)));
  }

  async #complete({ params = {} }: McpRequest, context: RequestContext): Promise<Fields> {
    await this.#host.started();
    const ref = (params["ref"] ?? {}) as Fields;
    try {
      if (ref["type"] === "ref/prompt") {
        const found = this.#found(() => this.#host.runtime.findPrompt(this.client.key, String(ref["name"])));
        if (found) return await this.#pass(found.server, "completion/complete", { ...params, ref: { ...ref, name: found.name } }, context);
      } else {
        for (const { server, uri } of this.#having(String(ref["uri"]))) {
          try {
            return await this.#pass(server, "completion/complete", { ...params, ref: { ...ref, uri } }, context);
          } catch (error) {
            if (!isUnknown(error)) throw error;
          }
        }
      }
    } catch (error) {
      throw this.#told(error);
    }
    throw this.#error(INVALID_PARAMS, "no server has what is to be completed");
  }

  async #subscribe(uri: string, context?: RequestContext): Promise<void> {
    await this.#host.started();
    if (this.#subscribed.has(uri)) return;
    await this.#ofResource(uri, async ({ server }) => {
      const connection = this.#connection(this.#host.upstream(server), context);
      await this.#host.subscriptions.add(connection, uri);
      this.#subscribed.set(uri, connection);
    });
  }

  /** The connection for a request. In a session each has credentials of its own: they are renewed, or of another user. */
  #connection(upstream: Upstream, context?: RequestContext): UpstreamConnection {
    const request = context?.http?.req;
    // A server of the earlier revisions asks by its connection: whose call it is about is known if the connection is one client's.
    const session = context === undefined || upstream.main.era === "modern" ? this.client.key : this.#session(context);
    return upstream.connection(session, request ? this.#host.forwarded(request) : this.client.headers);
  }

  /** Without sessions, clients of one caller are told apart by what they call themselves. */
  #session(context: RequestContext): string {
    const { is_passing, key } = this.client;
    return is_passing ? JSON.stringify([key, context.mcpReq.envelope?.[CLIENT_INFO]]) : key;
  }

  #upstreamCall(context: RequestContext): UpstreamCall {
    const { is_modern } = this.client;
    const client: CallClient = { is_modern, session: this.#session(context), capabilities: (now) => this.#capabilities(now), wants: (level) => this.wants(level) };
    return new UpstreamCall(this.#host.sdk, client, context);
  }

  #capabilities(context: RequestContext): Fields {
    const told = this.client.is_modern ? context.mcpReq.envelope?.[CLIENT_CAPABILITIES] : this.server.getClientCapabilities();
    return (told ?? {}) as Fields;
  }

  /**
   * What an upstream of revision 2026-07-28 is told with a request: what this client can answer, and which log messages it wants.
   * One of the earlier revisions that has not said so gets all.
   */
  #envelope(context: RequestContext): Fields {
    const level = this.client.is_modern ? context.mcpReq.envelope?.[LOG_LEVEL] : (this.#level ?? "debug");
    return { [CLIENT_CAPABILITIES]: this.#capabilities(context), ...(level !== undefined && { [LOG_LEVEL]: level }) };
  }

  #error(code: number, message: string, data?: unknown): Error {
    return new this.#host.sdk.ProtocolError(code, message, data);
  }

  /** What the client is told of a failure: the error of the protocol as the server sent it, masked. */
  #told(error: unknown): Error {
    if (error instanceof this.#host.sdk.ProtocolError) return error;
    const { code, message, data } = failureOf(error, []);
    if (code === undefined && !ContextWeaverError.is(error)) this.#host.onError(error);
    return this.#error(code ?? INTERNAL_ERROR, message, data);
  }
}

/** A server that may have a resource, with the address that it has for it. */
interface ResourcePlace {
  readonly server: string;
  readonly uri: string;
}

/** What a result is the answer to. */
interface Answered {
  readonly call: number;
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** What goes beside the parameters of a request. */
interface Metadata {
  /** What the client gave, as far as it passes. */
  readonly meta?: Fields | undefined;
  /** Of revision 2026-07-28 alone. */
  readonly envelope: Fields;
  readonly watched: WatchedCall | undefined;
}

/** Runs a request of a call that hooks may be told of. */
function watchedRun(watched: WatchedCall | undefined, context: RequestContext, run: () => Promise<Fields>): Promise<Fields> {
  if (!watched) return run();
  watching.set(context, watched);
  return watched.during(context.mcpReq.signal, run);
}

/** A `_meta` with another trace context: the state of a trace belongs to its parent. */
function withTrace(meta: Fields | undefined, trace: TraceContext): Fields {
  const { traceparent: _, tracestate: __, ...rest } = meta ?? {};
  return { ...rest, ...trace };
}

/** What a client answers to an upstream's questions. */
function answersOf({ mcpReq: { inputResponses } }: RequestContext): Fields | undefined {
  return inputResponses && { inputResponses };
}

/** The text of a result. */
function textOf({ content }: Fields): string {
  const blocks = Array.isArray(content) ? (content as readonly Fields[]) : [];
  return blocks.map(({ text }) => (typeof text === "string" ? text : "")).join("\n");
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((done) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      done();
    }, { once: true });
  });
}
