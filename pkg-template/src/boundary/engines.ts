// Which module of the package answers which operations. A module may answer several groups of them: the one for agent loops
// has those of the context and those of the converters, so that a result crosses into WebAssembly once.
import type * as agentGlue from "../wasm/agent.js";
import type * as contextGlue from "../wasm/context.js";
import type * as convertGlue from "../wasm/convert.js";
import type * as decisionsGlue from "../wasm/decisions.js";
import type { Engine, Glue } from "./engine.js";
import { ContextWeaverError } from "./errors.js";
import type * as gatewayGlue from "../wasm/gateway.js";
import type * as routingGlue from "../wasm/routing.js";

/** @internal */
export type AgentGlue = typeof agentGlue;
/** @internal */
export type ContextGlue = typeof contextGlue;
/** @internal */
export type ConvertGlue = typeof convertGlue;
/** @internal */
export type DecisionsGlue = typeof decisionsGlue;
/** @internal */
export type GatewayGlue = typeof gatewayGlue;
/** @internal */
export type RoutingGlue = typeof routingGlue;

/** What writes and reads journals of records: several modules can. @internal */
export interface JournalEngine {
  call<T>(run: (glue: Pick<DecisionsGlue, "journal_read" | "journal_write">) => T): T;
}

/** A group of operations, and the engine that answers them. @internal */
export class Operations<G extends Glue> {
  readonly #name: string;
  #engine: Engine<G> | undefined;
  #isWhole = false;

  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Says who answers. The first stays, as handles of objects belong to it; before it has started it gives way to one that is
   * `whole`: the module of agent loops, which has the context and the converters.
   */
  provide(engine: Engine<G>, whole = false): void {
    if (!this.#engine || (whole && !this.#engine.isStarted)) this.#engine = engine;
    this.#isWhole ||= whole && this.#engine === engine;
  }

  /** Whether a module answers that was provided as the whole. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Counts the instances that ended; a handle is worth nothing in another one than its own. */
  get generation(): number {
    return this.#engine?.generation ?? 0;
  }

  /** Runs one call into the engine. */
  call<T>(run: (glue: G) => T): T {
    if (this.#engine) return this.#engine.call(run);
    const message = `no module for this is loaded: init has not been given ${this.#name}`;
    const hint = `call initSync({ ${this.#name} }) or await init({ ${this.#name} }) of contextweaver/slim first`;
    throw new ContextWeaverError("UNSUPPORTED", message, { hint });
  }
}

/** Compiles prompts. @internal */
export const context: Operations<ContextGlue> = /* @__PURE__ */ new Operations("context");

/** Converts what other protocols say. @internal */
export const convert: Operations<ConvertGlue> = /* @__PURE__ */ new Operations("convert");

/** Chooses tools. @internal */
export const routing: Operations<RoutingGlue> = /* @__PURE__ */ new Operations("routing");

/** Remembers decisions. @internal */
export const decisions: Operations<DecisionsGlue> = /* @__PURE__ */ new Operations("decisions");

/** Stands in front of MCP servers. @internal */
export const gateway: Operations<GatewayGlue> = /* @__PURE__ */ new Operations("gateway");
