// The entry without a WebAssembly module: the caller supplies it, for the smallest download or for streaming.
import { isStarted, start } from "./engine.js";

export * from "./api.js";

// These types name no global of the DOM library, so that projects without it can compile against them.

/** A compiled `WebAssembly.Module`. */
export type WasmModule = object;

/** The bytes of `contextweaver/core_bg.wasm`. */
export type WasmBytes = ArrayBuffer | Uint8Array<ArrayBuffer>;

/** A response of `fetch`. */
export interface WasmResponse {
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** Where to fetch the module from. */
export type WasmAddress = string | { readonly href: string };

/** What {@link init} accepts. */
export type WasmSource = WasmModule | WasmBytes | WasmResponse | WasmAddress;

/** Starts the engine from a compiled module or its bytes. A second call changes nothing. */
export function initSync(module: WasmModule | WasmBytes): void {
  start(module as WebAssembly.Module | WasmBytes);
}

/** Starts the engine from a module, bytes, a response or an address. A second call changes nothing. */
export async function init(source: WasmSource | PromiseLike<WasmSource>): Promise<void> {
  if (isStarted()) return;
  const module = await compile(await source);
  start(module);
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
