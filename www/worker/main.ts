// The worker: everything the page computes happens here, so that no input makes the page stand still.
import { init } from "contextweaver/slim";
import { type Answer, type Question, operations } from "./operations.ts";
import { problemOf } from "./text.ts";

interface Scope {
  onmessage: ((event: MessageEvent<Question>) => void) | null;
  postMessage(answer: Answer, transfer?: Transferable[]): void;
}

const scope = globalThis as unknown as Scope;

let started: Promise<void> | undefined;

/** Starts the modules. When one did not come, the next question tries again. */
function begin(): Promise<void> {
  started ??= start().catch((error: unknown) => {
    started = undefined;
    throw error;
  });
  return started;
}

// Before anybody asks; who asks is told what went wrong.
begin().catch(() => undefined);

async function start(): Promise<void> {
  const module = (name: string): Promise<Response> => fetch(new URL(`./${name}_bg.wasm`, import.meta.url));
  await init({ agent: module("agent"), routing: module("routing") });
  // The worker of a static host has no policy of its own, so it gives the network away before it sees any data.
  for (const name of ["fetch", "XMLHttpRequest", "WebSocket", "WebTransport", "EventSource", "importScripts", "Worker"]) {
    Object.defineProperty(globalThis, name, { value: undefined, configurable: false });
  }
}

scope.onmessage = async ({ data: { id, name, args } }) => {
  try {
    await begin();
  } catch (error) {
    // Nothing of this text comes from outside, and what cleans text is in the modules.
    scope.postMessage({ id, problem: { message: `The modules of the page could not be loaded. ${String(error)}`, code: "PAGE" } });
    return;
  }
  try {
    const operation = operations[name] as (args: unknown) => unknown;
    const value = operation(args);
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
