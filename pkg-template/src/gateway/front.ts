// The server that one client of the gateway sees: what it offers, and who answers which request.
import { extensionsOf, registerExtensions, showsViews } from "./extensions.js";
import { FrontCalls } from "./front-calls.js";
import { ServedClient } from "./front-client.js";
import type { FrontClient } from "./front-client.js";
import { protocolError, toldError } from "./front-errors.js";
import type { FrontHost } from "./front-host.js";
import { FrontReads } from "./front-reads.js";
import { FrontRounds } from "./front-rounds.js";
import { FrontSubscriptions } from "./front-subscriptions.js";
import { FrontTasks, legacyTasks } from "./front-tasks.js";
import { FrontUpstream } from "./front-upstream.js";
import type { GatewayCallMethod } from "./hook-types.js";
import type { Fields, RequestContext, RequestHandler, SdkMcpServer, SdkServer } from "./server-sdk.js";
import { later } from "./timers.js";
import type { UpstreamConnection } from "./upstream.js";

/** Capabilities of the gateway: what no server offers is an empty list. */
const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

/** Milliseconds for which a client that listens waits for servers: its other resources and lists must not wait for one that hangs. */
const LISTEN_MS = 1_500;

/** The server that a client talks to. */
export class ClientFront {
  readonly server: SdkServer;
  /** The same as the SDK's entries take it. */
  readonly product: SdkMcpServer;
  readonly client: ServedClient;
  readonly #host: FrontHost;
  readonly #subscriptions: FrontSubscriptions;
  #hasCalled = false;

  /** `called` is the tool that the request is about, where only one request is served: its headers are checked. */
  constructor(host: FrontHost, client: FrontClient, called?: string | null) {
    this.#host = host;
    const { sdk, runtime } = host;
    const extensions = extensionsOf(host.extensions(), host.hasViews());
    this.product = new sdk.McpServer(host.info, {
      capabilities: { ...CAPABILITIES, ...(!client.is_modern && legacyTasks(host)), ...(extensions && { extensions }) },
      instructions: runtime.instructions(),
      requestState: { verify: (state: string, context: RequestContext) => host.state.verify(state, context) },
    });
    this.server = this.product.server;
    this.client = new ServedClient(client, this.server);
    const schema = typeof called === "string" ? host.schemaWithHeaders(client.key, client.caller, called) : undefined;
    // The SDK compares headers with arguments for tools that it knows. It is never the one to answer.
    if (schema && typeof called === "string")
      this.product.registerTool(called, { inputSchema: sdk.fromJsonSchema(schema) }, () => Promise.resolve({}));
    const rounds = new FrontRounds(host, this.client);
    const upstream = new FrontUpstream(host, this.client, rounds);
    const reads = new FrontReads(host, this.client, upstream);
    const tasks = new FrontTasks(host, this.client, rounds, upstream);
    tasks.register(this.server);
    this.#subscriptions = new FrontSubscriptions(host, this.client, reads, upstream);
    this.#registerLists(upstream);
    this.#registerCalls(
      rounds,
      new FrontCalls(host, this.client, rounds, upstream, tasks, () => host.toolsChanged(this.client)),
      reads,
    );
    registerExtensions(this.server, {
      declared: () => host.extensions(),
      started: () => host.started(),
      pass: async (server, method, params, context) => {
        const result = await upstream.pass(server, method, params, context);
        host.skills.note(server, result);
        return result;
      },
      told: (error) => toldError(host, error),
      error: (code, message) => protocolError(host, code, message),
      onError: host.onError,
      is_modern: client.is_modern,
    });
    if (!client.is_modern) this.#registerEarlier();
  }

  /** The addresses by which the client wants to know when a resource of a connection changes. */
  subscribed(known: string, connection: UpstreamConnection): readonly string[] {
    return this.#subscriptions.of(known, connection);
  }

  /** Subscribes to the resources that a `subscriptions/listen` names; one of a server that hangs follows when it answers. */
  async listen(uris: readonly string[]): Promise<void> {
    const added = Promise.all(uris.map((uri) => this.#subscriptions.add(uri).catch(this.#host.onError)));
    await Promise.race([added, new Promise<void>((done) => void later(LISTEN_MS, done))]);
  }

  /** Ends that for some of them. */
  unlisten(uris: readonly string[]): void {
    for (const uri of uris) void this.#subscriptions.remove(uri).catch(this.#host.onError);
  }

  /** Gives up what the client asked for beyond its requests. */
  close(): void {
    this.#subscriptions.close();
  }

  #registerLists(upstream: FrontUpstream): void {
    const { runtime } = this.#host;
    const { key: session, caller } = this.client;
    const list = (method: string, read: (context: RequestContext) => Fields): void =>
      this.server.setRequestHandler(method, async (_, context) => {
        await this.#host.started();
        await upstream.introduce(context);
        return read(context);
      });
    list("tools/list", (context) => ({
      tools: runtime.listTools(session, caller, {
        client: this.client.name(context),
        has_views: showsViews(this.client.capabilities(context)),
      }).tools,
    }));
    list("resources/list", () => ({ resources: runtime.listResources(session, caller) }));
    list("resources/templates/list", () => ({ resourceTemplates: runtime.listResourceTemplates(session, caller) }));
    list("prompts/list", () => ({ prompts: runtime.listPrompts(session, caller) }));
  }

  #registerCalls(rounds: FrontRounds, calls: FrontCalls, reads: FrontReads): void {
    const inRounds = (method: GatewayCallMethod, begin: RequestHandler): void =>
      this.server.setRequestHandler(method, (request, context) =>
        rounds.run(method, context, () => begin(request, context)),
      );
    inRounds("tools/call", (request, context) => {
      // Over HTTP a question reaches a client for sure as long as a call of it is under way: its stream may not have been open before.
      if (context.http && !this.#hasCalled) this.#host.rootsChanged(this.client);
      this.#hasCalled = true;
      return calls.begin(request, context);
    });
    inRounds("resources/read", (request, context) => reads.resource(request, context));
    inRounds("prompts/get", (request, context) => reads.prompt(request, context));
    this.server.setRequestHandler("completion/complete", (request, context) => reads.completion(request, context));
  }

  /** Methods that revision 2026-07-28 has no more. */
  #registerEarlier(): void {
    this.server.setRequestHandler("resources/subscribe", async ({ params }, context) => {
      await this.#subscriptions.add(String(params?.["uri"]), context);
      return {};
    });
    this.server.setRequestHandler("resources/unsubscribe", async ({ params }) => {
      await this.#subscriptions.remove(String(params?.["uri"]));
      return {};
    });
    this.server.setRequestHandler("logging/setLevel", async ({ params }) => {
      this.client.level = String(params?.["level"]);
      this.#host.levelChanged(this.client);
      return {};
    });
    const rootsChanged = (): void => this.#host.rootsChanged(this.client);
    this.server.oninitialized = rootsChanged;
    this.server.setNotificationHandler("notifications/roots/list_changed", rootsChanged);
  }
}
