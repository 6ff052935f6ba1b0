// The gateway inside the engine: what clients see, what they may do, how a call goes. It decides; who uses it carries.
import { EngineObject, disposable } from "../boundary/engine-object.js";
import type { GatewayOperation } from "../boundary/operation-names.js";
import type { Kind } from "../boundary/engine-object.js";
import { gateway } from "../boundary/engines.js";
import type { GatewayGlue } from "../boundary/engines.js";
import { parseKeeping } from "../boundary/exact-numbers.js";
import { encode, fields, readArgument } from "../boundary/guard.js";
import { INPUT, MCP_RESULT } from "../boundary/guard-limits.js";
import type { Limits } from "../boundary/guard-limits.js";
import type { JsonObject, JsonValue } from "../types.js";
import type {
  AcceptedTools,
  CallRequest,
  FailedCall,
  FinishedCall,
  FinishedReply,
  FinishedTask,
  FoundPrompt,
  FoundResource,
  GatewayRuntimeOptions,
  GatewayStats,
  ListChanges,
  ListedServer,
  NextStep,
  OwnedHandle,
  PinState,
  ServerStatus,
  ToolList,
} from "./runtime-types.js";
import type { RoutedCards, SidecarRouteOptions } from "./sidecar.js";

/** What a gateway is made of again after the end of an instance: bounded by its servers. */
interface Recipe {
  /** Options without pins. */
  readonly options: Record<string, unknown>;
  /** Pins and what was accepted, as they are now: a tool in quarantine must not be pinned anew. */
  pins: Record<string, unknown>;
  accepted: Record<string, unknown>;
  /** The last listing of each server. */
  readonly listings: Map<string, { readonly args: string; readonly bytes: Uint8Array }>;
  /** Statuses that were told since. */
  readonly statuses: Map<string, string>;
}

/** A call of a client: its arguments are a model's. */
const CALL: Limits = { ...INPUT, repaired: ["arguments", "meta"], exact: true };
const FAILED: Limits = { ...MCP_RESULT, repaired: ["failure"] };
const FINISHED: Limits = { ...MCP_RESULT, repaired: ["reply"] };

const KIND: Kind<GatewayGlue> = {
  name: "gateway",
  alive: () => ({ bytes: 0, count: 0 }),
  // What it is made of is its snapshot, so that nothing is ever recorded beside.
  snapshot: () => {
    throw new Error("a gateway has no snapshot");
  },
  drop: (glue, handle) => glue.gateway_free(handle),
};

function open(glue: GatewayGlue, { options, pins, accepted, listings, statuses }: Recipe): number {
  const handle = glue.gateway_new(encode({ ...options, pins, accepted }));
  for (const { args, bytes } of listings.values()) glue.gateway_set_listing(handle, args, bytes);
  for (const args of statuses.values()) glue.gateway_call(handle, "set_status", args);
  return handle;
}

/**
 * The gateway inside the engine. Sessions and open calls end with an instance of the engine; servers, their tools, pins and what
 * was accepted do not.
 */
export class GatewayRuntime {
  readonly #object: EngineObject<GatewayGlue>;
  readonly #recipe: Recipe;
  /** What {@link instructions} says until a server changes: it is asked with every request of revision 2026-07-28. */
  #instructions: string | undefined;

  constructor(options: GatewayRuntimeOptions) {
    const { pins = {}, accepted = {}, ...rest } = fields(options);
    const recipe: Recipe = {
      options: rest,
      pins: fields(pins, "/pins"),
      accepted: fields(accepted, "/accepted"),
      listings: new Map(),
      statuses: new Map(),
    };
    this.#recipe = recipe;
    this.#object = new EngineObject(gateway, KIND, { weight: encode(rest).length, open: (glue) => open(glue, recipe) });
    this.#object.watch(this);
  }

  /** Takes what a server lists: the JSON of `{tools, resources?, resource_templates?, prompts?, instructions?}` as bytes, all pages. */
  setListing(server: string, listing: Uint8Array): ListedServer {
    const args = encode({ server });
    this.#instructions = undefined;
    const listed = done<ListedServer>(
      this.#object.call((glue, handle) => glue.gateway_set_listing(handle, args, listing)),
    );
    // The caller may use its bytes again.
    this.#recipe.listings.set(server, { args, bytes: listing.slice() });
    this.#recipe.statuses.delete(server);
    this.#recipe.pins = { ...this.#recipe.pins, [server]: listed.pins };
    return listed;
  }

  /** Notes whether a server can be reached. */
  setStatus(server: string, status: ServerStatus, detail?: string): ListChanges {
    const args = encode({ server, status, detail });
    this.#instructions = undefined;
    const { changed } = this.#run<{ changed: ListChanges }>("set_status", args);
    this.#recipe.statuses.set(server, args);
    return changed;
  }

  /** Accepts a tool in quarantine as it is now, or all of a server. */
  accept(server: string, tool?: string): AcceptedTools {
    this.#instructions = undefined;
    const accepted = this.#run<AcceptedTools>("accept", encode({ server, tool }));
    const state = this.pinState();
    this.#recipe.pins = { ...state.pins };
    this.#recipe.accepted = { ...state.accepted };
    return accepted;
  }

  /** Returns what is kept for the next run. */
  pinState(): PinState {
    return this.#run("pin_state", "{}");
  }

  /** Returns the tools that a client sees: with those that are for views alone, where it shows views; all, where it searches by itself. */
  listTools(
    session: string,
    caller?: string,
    traits: { readonly client?: string | undefined; readonly has_views?: boolean } = {},
  ): ToolList {
    return this.#run("list_tools", encode({ session, caller, ...traits }));
  }

  /** Says what to do with a call of a client. */
  beginCall(request: CallRequest): NextStep {
    return this.#run("begin_call", readArgument(request, CALL).json);
  }

  /** Goes on with a call after its user was asked. */
  confirmCall(call: number, accepted: boolean, now_ms: number): NextStep {
    return this.#run("confirm_call", encode({ call, accepted, now_ms }));
  }

  /** Ends a call that failed, or says when to try again. */
  failCall(failed: FailedCall): NextStep {
    return this.#run("fail_call", readArgument(failed, FAILED).json);
  }

  /** Ends a call that a server answered, and says what goes with its result. */
  finishCall(finished: FinishedCall): FinishedReply {
    return this.#run("finish_call", readArgument(finished, FINISHED).json);
  }

  /** Counts the result of a call that became a task, and notes whose its handles are. */
  finishTask(finished: FinishedTask): void {
    this.#run("finish_task", encode(finished));
  }

  /** Gives a call up. */
  cancelCall(call: number): void {
    this.#run("cancel_call", encode({ call }));
  }

  /** Returns the resources of all servers, each as its server wrote it. */
  listResources(session: string, caller?: string): readonly JsonObject[] {
    return this.#run<{ resources: readonly JsonObject[] }>("list_resources", encode({ session, caller })).resources;
  }

  /** Returns the templates of resources of all servers. */
  listResourceTemplates(session: string, caller?: string): readonly JsonObject[] {
    return this.#run<{ resource_templates: readonly JsonObject[] }>(
      "list_resource_templates",
      encode({ session, caller }),
    ).resource_templates;
  }

  /** Returns the prompts of all servers, under names of which each is there once. */
  listPrompts(session: string, caller?: string): readonly JsonObject[] {
    return this.#run<{ prompts: readonly JsonObject[] }>("list_prompts", encode({ session, caller })).prompts;
  }

  /** Returns which servers may have a resource. Errors: `NOT_FOUND`. */
  findResource(session: string, uri: string): FoundResource {
    return this.#run("find_resource", encode({ session, uri }));
  }

  /** Returns the server of a prompt. Errors: `NOT_FOUND`. */
  findPrompt(session: string, name: string): FoundPrompt {
    return this.#run("find_prompt", encode({ session, name }));
  }

  /** Says what clients are told of the gateway and its servers. */
  instructions(): string {
    return (this.#instructions ??= this.#run<{ text: string }>("instructions", "{}").text);
  }

  /** Notes whose results handles are: a policy may say that those of some tools are not to be read. */
  ownHandles(session: string, handles: readonly OwnedHandle[]): void {
    this.#run("own_handles", encode({ session, handles }));
  }

  /** Chooses tools of all servers for a query, as a router does. Errors: `NO_CANDIDATES`. */
  route(query: string, options: SidecarRouteOptions): RoutedCards {
    return this.#run("route", encode({ ...options, query }));
  }

  /** Returns what was counted so far. */
  stats(): GatewayStats {
    return this.#run("stats", "{}");
  }

  /** Forgets what is known of a client. */
  endSession(session: string): void {
    this.#run("end_session", encode({ session }));
  }

  /** Gives the memory back; a second time does nothing. */
  free(): void {
    this.#object.free();
  }

  #run<T = JsonValue>(operation: GatewayOperation, args: string): T {
    return done<T>(this.#object.call((glue, handle) => glue.gateway_call(handle, operation, args)));
  }
}

disposable(GatewayRuntime);

function done<T>(answer: string): T {
  return (parseKeeping(answer) as { done: T }).done;
}
