// The entry without a WebAssembly module: the caller supplies them, for the smallest download or for streaming.
import type { Engine, Glue } from "./engine.js";
import { core as coreEngine, routing as routingEngine } from "./engines.js";
import { ContextWeaverError } from "./errors.js";

export * from "./api.js";

// These types name no global of the DOM library, so that projects without it can compile against them.

/** A compiled `WebAssembly.Module`. */
export type WasmModule = object;

/** The bytes of `contextweaver/core_bg.wasm` or `contextweaver/routing_bg.wasm`. */
export type WasmBytes = ArrayBuffer | Uint8Array<ArrayBuffer>;

/** A response of `fetch`. */
export interface WasmResponse {
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** Where to fetch the module from. */
export type WasmAddress = string | { readonly href: string };

/** What {@link init} accepts. */
export type WasmSource = WasmModule | WasmBytes | WasmResponse | WasmAddress;

/**
 * Starts the engine from compiled modules or their bytes: `core_bg.wasm`, and `routing_bg.wasm` for catalogs and routers. One
 * that is not needed may be `undefined`. What has started stays as it is.
 */
export function initSync(core: WasmModule | WasmBytes | undefined, routing?: WasmModule | WasmBytes): void {
  // Both are looked at before one is started.
  const starts = [prepared(coreEngine, "/core", core), prepared(routingEngine, "/routing", routing)];
  for (const start of starts) start?.();
}

/** Does the same from modules, bytes, responses or addresses. */
export async function init(
  core: WasmSource | PromiseLike<WasmSource> | undefined,
  routing?: WasmSource | PromiseLike<WasmSource>,
): Promise<void> {
  initSync(...(await Promise.all([fetched(coreEngine, core), fetched(routingEngine, routing)])));
}

function prepared<G extends Glue>(engine: Engine<G>, path: string, source: object | undefined): (() => void) | undefined {
  if (source === undefined || engine.isStarted) return undefined;
  const module = source instanceof WebAssembly.Module ? source : new WebAssembly.Module(source as WasmBytes);
  if (!WebAssembly.Module.exports(module).some(({ name }) => name === engine.mark)) {
    throw new ContextWeaverError("INVALID_INPUT", `expected the module ${engine.file}, got another one`, { path });
  }
  return () => engine.start(module);
}

async function fetched<G extends Glue>(
  engine: Engine<G>,
  source: WasmSource | PromiseLike<WasmSource> | undefined,
): Promise<WebAssembly.Module | undefined> {
  return source === undefined || engine.isStarted ? undefined : compile(await source);
}

async function compile(source: WasmSource): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source as WasmBytes);
  if (typeof source === "string") return compile(await fetch(source));
  if ("arrayBuffer" in source) return compileResponse(source as Response);
  if ("href" in source) return compile(await fetch(source.href));
  throw new TypeError("init needs a WebAssembly.Module, its bytes, a Response or an address");
}

/** Compiles while downloading where the runtime can and the server names the type. */
async function compileResponse(response: Response): Promise<WebAssembly.Module> {
  if (response.ok === false) throw new Error(`cannot load the WebAssembly module: HTTP status ${response.status}`);
  const streams = "compileStreaming" in WebAssembly && response.headers?.get("content-type") === "application/wasm";
  return streams ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}
