// The worker: everything the page computes happens here, so that no input makes the page stand still.
import { init } from "contextweaver/slim";
import { type Answer, type ModuleName, type Question, needs, operations } from "./operations.ts";
import { problemOf } from "./text.ts";

interface Scope {
  onmessage: ((event: MessageEvent<Question>) => void) | null;
  postMessage(answer: Answer, transfer?: Transferable[]): void;
}

/** Sizes of the modules, which a compressed answer does not say; written by the bundler. */
declare const MODULE_BYTES: Readonly<Record<ModuleName, number>>;

const scope = globalThis as unknown as Scope;
const load = fetch.bind(globalThis);
// The worker of a static host has no policy of its own, so it gives the network away before it sees any data. What is kept
// for this file reads the modules of the page, by their names.
for (const name of ["fetch", "XMLHttpRequest", "WebSocket", "WebTransport", "EventSource", "importScripts", "Worker"]) {
  Object.defineProperty(globalThis, name, { value: undefined, configurable: false });
}

const modules = new Map<ModuleName, Promise<void>>();
const progress = new Map<ModuleName, number>();

/** Starts a module. When it did not come, the next question tries again. */
function started(name: ModuleName): Promise<void> {
  const known = modules.get(name);
  if (known) return known;
  const starting = init({ [name]: received(name) }).catch((error: unknown) => {
    modules.delete(name);
    progress.delete(name);
    throw error;
  });
  modules.set(name, starting);
  return starting;
}

/** A module as it comes, counted. */
async function received(name: ModuleName): Promise<Response> {
  const response = await load(new URL(`./${name}_bg.wasm`, import.meta.url));
  if (!response.ok || !response.body) throw new Error(`${name}_bg.wasm: HTTP status ${response.status}`);
  progress.set(name, 0);
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      progress.set(name, (progress.get(name) ?? 0) + chunk.length);
      tell();
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(counter), { headers: { "content-type": "application/wasm" } });
}

function tell(): void {
  let [loaded, total] = [0, 0];
  for (const [name, bytes] of progress) {
    loaded += bytes;
    total += MODULE_BYTES[name];
  }
  scope.postMessage({ progress: { loaded, total } });
}

scope.onmessage = async ({ data: { id, name, args } }) => {
  try {
    await Promise.all(needs(name).map(started));
  } catch (error) {
    // Nothing of this text comes from outside, and what cleans text is in the modules.
    scope.postMessage({
      id,
      problem: { message: `The modules of the page could not be loaded. ${String(error)}`, code: "PAGE" },
    });
    return;
  }
  try {
    const operation = operations[name] as (args: unknown) => unknown;
    const value = await operation(args);
    scope.postMessage({ id, value }, transferable(value));
  } catch (error) {
    scope.postMessage({ id, problem: problemOf(error) });
  }
};

/** Pictures and sounds go over without a copy. */
function transferable(value: unknown): Transferable[] {
  const { binaries = [] } = (value ?? {}) as { binaries?: readonly { readonly bytes?: Uint8Array<ArrayBuffer> }[] };
  return binaries.flatMap(({ bytes }) => (bytes ? [bytes.buffer] : []));
}
