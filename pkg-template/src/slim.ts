// The entry without a WebAssembly module: the caller supplies them, for the smallest download or for streaming.
import type { Bytes } from "./types.js";
import * as agentGlue from "./wasm/agent.js";
import * as contextGlue from "./wasm/context.js";
import * as convertGlue from "./wasm/convert.js";
import * as decisionsGlue from "./wasm/decisions.js";
import { Engine, isOf } from "./boundary/engine.js";
import type { Glue } from "./boundary/engine.js";
import { context, convert, decisions, gateway, routing } from "./boundary/engines.js";
import { ContextWeaverError } from "./boundary/errors.js";
import { fields } from "./boundary/guard.js";
import { token } from "./boundary/guard-errors.js";
import * as gatewayGlue from "./wasm/gateway.js";
import * as routingGlue from "./wasm/routing.js";

export * from "./api.js";

// These types name no global of the DOM library, so that projects without it can compile against them.

/** A compiled `WebAssembly.Module`. */
export type WasmModule = object;

/** The bytes of one of the package's `.wasm` files. */
export type WasmBytes = ArrayBuffer | Bytes;

/** A response of `fetch`. */
export interface WasmResponse {
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** Where to fetch the module from. */
export type WasmAddress = string | { readonly href: string };

/** What {@link init} accepts. */
export type WasmSource = WasmModule | WasmBytes | WasmResponse | WasmAddress;

/** The modules of the package; those that you need. */
export interface Modules<Source> {
  /** `contextweaver/agent_bg.wasm`: everything below `context` and `convert`, for agent loops. */
  readonly agent?: Source | undefined;
  /** `contextweaver/context_bg.wasm`: `ContextManager` without messages of providers and results of MCP, and texts. */
  readonly context?: Source | undefined;
  /** `contextweaver/convert_bg.wasm`: MCP, messages of providers, definitions of tools, `ToolCallContext`. */
  readonly convert?: Source | undefined;
  /** `contextweaver/routing_bg.wasm`: `Catalog` and `Router`. */
  readonly routing?: Source | undefined;
  /** `contextweaver/decisions_bg.wasm`: `DecisionStore`. */
  readonly decisions?: Source | undefined;
  /** `contextweaver/gateway_bg.wasm`: the gateway in front of MCP servers. */
  readonly gateway?: Source | undefined;
}

/** A module: its engine, and what to do once it is started. */
interface Slot {
  readonly name: keyof Modules<unknown>;
  readonly engine: Engine<Glue>;
  readonly provide: () => void;
}

function slot<G extends Glue>(name: Slot["name"], glue: G, provide: (engine: Engine<G>) => void): Slot {
  const engine = new Engine(glue, name);
  return { name, engine, provide: () => provide(engine) };
}

const SLOTS: readonly Slot[] = [
  slot("agent", agentGlue, (engine) => {
    context.provide(engine, true);
    convert.provide(engine, true);
  }),
  slot("context", contextGlue, (engine) => context.provide(engine)),
  slot("convert", convertGlue, (engine) => convert.provide(engine)),
  slot("routing", routingGlue, (engine) => routing.provide(engine)),
  slot("decisions", decisionsGlue, (engine) => decisions.provide(engine)),
  slot("gateway", gatewayGlue, (engine) => gateway.provide(engine)),
];

/** Starts the engine from compiled modules or their bytes. What has started stays as it is. */
export function initSync(modules: Modules<WasmModule | WasmBytes>): void {
  startAll(given(modules));
}

/** Does the same from modules, bytes, responses or addresses. */
export async function init(modules: Modules<WasmSource | PromiseLike<WasmSource>>): Promise<void> {
  const loaded = given(modules).map(async ([slot, source]): Promise<[Slot, unknown]> => {
    return [slot, await compile((await source) as WasmSource, slot.name)];
  });
  startAll(await Promise.all(loaded));
}

/** Looks at all modules before one is started. */
function startAll(modules: readonly [Slot, unknown][]): void {
  // One may have been started while others were loading.
  const waiting = modules.filter(([{ engine }]) => !engine.isStarted);
  for (const start of waiting.map(([slot, module]) => prepared(slot, module as object))) start();
}

/** Returns what was given for the engines that have not started. */
function given(modules: unknown): [Slot, unknown][] {
  const sources = fields(modules);
  for (const name of Object.keys(sources)) {
    if (SLOTS.some((slot) => slot.name === name)) continue;
    throw new ContextWeaverError("UNKNOWN_FIELD", `unknown module \`${token(name)}\``, {
      path: `/${token(name)}`,
      hint: HINT,
    });
  }
  const all = SLOTS.map((slot): [Slot, unknown] => [slot, sources[slot.name]]).filter(
    ([, source]) => source !== undefined,
  );
  if (all.length === 0) throw new ContextWeaverError("MISSING_FIELD", "no module was given", { hint: HINT });
  return all.filter(([{ engine }]) => !engine.isStarted);
}

const HINT = `give those that you need: { ${SLOTS.map(({ name }) => name).join(", ")} }`;

function prepared({ name, engine, provide }: Slot, source: object): () => void {
  if (!isModule(source) && !isBytes(source)) {
    const hint = "what `import` gives depends on the bundler; await init(…) takes responses and addresses, too";
    throw new ContextWeaverError("INVALID_INPUT", "expected a WebAssembly.Module or its bytes", {
      path: `/${name}`,
      hint,
    });
  }
  const module = isModule(source) ? (source as WebAssembly.Module) : new WebAssembly.Module(source as WasmBytes);
  if (!engine.fits(module)) {
    const message = `expected the module ${name}_bg.wasm, got another one`;
    throw new ContextWeaverError("INVALID_INPUT", message, { path: `/${name}` });
  }
  return () => {
    engine.start(module);
    provide();
  };
}

function isBytes(source: unknown): source is WasmBytes {
  return isOf("ArrayBuffer", source) || ArrayBuffer.isView(source);
}

/** No guard of types: a module has no members, so that TypeScript takes everything for one. */
function isModule(source: unknown): boolean {
  return isOf("WebAssembly.Module", source);
}

async function compile(source: WasmSource, name: Slot["name"]): Promise<WebAssembly.Module> {
  if (isModule(source)) return source as WebAssembly.Module;
  if (isBytes(source)) return WebAssembly.compile(source);
  if (typeof source === "string") return compile(await fetch(source), name);
  if (typeof source === "object" && (source as object | null) !== null) {
    if ("arrayBuffer" in source) return compileResponse(source as Response);
    if ("href" in source) return compile(await fetch(source.href), name);
  }
  const hint = "what `import` gives depends on the bundler";
  throw new ContextWeaverError("INVALID_INPUT", "expected a WebAssembly.Module, its bytes, a response or an address", {
    path: `/${name}`,
    hint,
  });
}

/** Compiles while downloading where the runtime can and the server names the type. */
async function compileResponse(response: Response): Promise<WebAssembly.Module> {
  if (response.ok === false) throw new Error(`cannot load the WebAssembly module: HTTP status ${response.status}`);
  const streams = "compileStreaming" in WebAssembly && response.headers?.get("content-type") === "application/wasm";
  return streams ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}
