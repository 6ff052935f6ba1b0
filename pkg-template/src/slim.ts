// The entry without a WebAssembly module: the caller supplies them, for the smallest download or for streaming.
import type { Engine, Glue } from "./engine.js";
import { convert, core, routing } from "./engines.js";
import { ContextWeaverError } from "./errors.js";
import { fields } from "./guard.js";

export * from "./api.js";

// These types name no global of the DOM library, so that projects without it can compile against them.

/** A compiled `WebAssembly.Module`. */
export type WasmModule = object;

/** The bytes of one of the package's `.wasm` files. */
export type WasmBytes = ArrayBuffer | Uint8Array<ArrayBuffer>;

/** A response of `fetch`. */
export interface WasmResponse {
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** Where to fetch the module from. */
export type WasmAddress = string | { readonly href: string };

/** What {@link init} accepts. */
export type WasmSource = WasmModule | WasmBytes | WasmResponse | WasmAddress;

/** The modules of the package; one that is not needed may be left out. */
export interface Modules<Source> {
  /** `contextweaver/core_bg.wasm`: compiles prompts. */
  readonly core?: Source | undefined;
  /** `contextweaver/routing_bg.wasm`: catalogs and routers. */
  readonly routing?: Source | undefined;
  /** `contextweaver/convert_bg.wasm`: MCP, messages of providers, definitions of tools. */
  readonly convert?: Source | undefined;
}

const ENGINES: readonly Engine<Glue>[] = [core, routing, convert];

/** Starts the engine from compiled modules or their bytes. What has started stays as it is. */
export function initSync(modules: Modules<WasmModule | WasmBytes>): void {
  startAll(given(modules));
}

/** Does the same from modules, bytes, responses or addresses. */
export async function init(modules: Modules<WasmSource | PromiseLike<WasmSource>>): Promise<void> {
  const loaded = given(modules).map(async ([engine, source]): Promise<[Engine<Glue>, unknown]> => {
    return [engine, await compile((await source) as WasmSource)];
  });
  startAll(await Promise.all(loaded));
}

/** Looks at all modules before one is started. */
function startAll(modules: readonly [Engine<Glue>, unknown][]): void {
  // One may have been started while others were loading.
  const waiting = modules.filter(([engine]) => !engine.isStarted);
  for (const start of waiting.map(([engine, module]) => prepared(engine, module as object))) start();
}

/** Returns what was given for the engines that have not started. */
function given(modules: unknown): [Engine<Glue>, unknown][] {
  const { core, routing, convert, ...others } = fields(modules);
  for (const name of Object.keys(others)) {
    throw new ContextWeaverError("UNKNOWN_FIELD", `unknown module \`${name}\``, { path: `/${name}`, hint: HINT });
  }
  const sources = [core, routing, convert];
  if (sources.every((source) => source === undefined)) {
    throw new ContextWeaverError("MISSING_FIELD", "no module was given", { hint: HINT });
  }
  const all = ENGINES.map((engine, at): [Engine<Glue>, unknown] => [engine, sources[at]]);
  return all.filter(([engine, source]) => source !== undefined && !engine.isStarted);
}

const HINT = "give those that are needed: { core, routing, convert }";

function prepared(engine: Engine<Glue>, source: object): () => void {
  const module = source instanceof WebAssembly.Module ? source : new WebAssembly.Module(source as WasmBytes);
  if (!WebAssembly.Module.exports(module).some(({ name }) => name === engine.mark)) {
    const message = `expected the module ${engine.name}_bg.wasm, got another one`;
    throw new ContextWeaverError("INVALID_INPUT", message, { path: `/${engine.name}` });
  }
  return () => engine.start(module);
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
