// Revision 2026-07-28 over standard input and output: the SDK answers `subscriptions/listen` before a server hears of it, and passes
// on what the server tells. Which resources are wanted is read here, so that upstreams are asked to tell of them.
import type { RpcMessage, SdkTransport, SendOptions } from "./sdk.js";
import type { Fields } from "./server-sdk.js";

/** Who is told what a client listens to. */
export interface ListenHost {
  /** Has upstreams tell of resources; resolves when they do, or will not. */
  listen(uris: readonly string[]): Promise<void>;
  /** Ends that for those that nobody listens to any more. */
  unlisten(uris: readonly string[]): void;
}

type OnMessage = NonNullable<SdkTransport["onmessage"]>;
type Id = string | number;

/** Resources that a `subscriptions/listen` names, at most this many. */
const MAX_RESOURCES = 1_000;

/** The resources that a request wants to be told of; nothing where it is another request. */
export function listenedResources(message: Fields | undefined): readonly string[] {
  if (message?.["method"] !== "subscriptions/listen") return [];
  const { notifications } = (message["params"] ?? {}) as Fields;
  const uris = ((notifications ?? {}) as Fields)["resourceSubscriptions"];
  return Array.isArray(uris)
    ? uris.filter((uri): uri is string => typeof uri === "string").slice(0, MAX_RESOURCES)
    : [];
}

/** A transport on which it is heard what a client listens to. Messages pass as they are. */
export class ListenTap implements SdkTransport {
  readonly #inner: SdkTransport;
  readonly #host: () => ListenHost | undefined;
  readonly #listened = new Map<Id, readonly string[]>();
  #onmessage: OnMessage | undefined;

  /** `host` is there once the client has said which revision it speaks. */
  constructor(inner: SdkTransport, host: () => ListenHost | undefined) {
    [this.#inner, this.#host] = [inner, host];
  }

  get onmessage(): OnMessage | undefined {
    return this.#onmessage;
  }

  set onmessage(handler: OnMessage | undefined) {
    this.#onmessage = handler;
    this.#inner.onmessage =
      handler && ((message, extra) => void this.#heard(message as unknown as Fields, () => handler(message, extra)));
  }

  get onclose(): SdkTransport["onclose"] {
    return this.#inner.onclose;
  }

  set onclose(handler: SdkTransport["onclose"]) {
    this.#inner.onclose = handler;
  }

  get onerror(): SdkTransport["onerror"] {
    return this.#inner.onerror;
  }

  set onerror(handler: SdkTransport["onerror"]) {
    this.#inner.onerror = handler;
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  send(message: RpcMessage, options?: SendOptions): Promise<void> {
    return this.#inner.send(message, options);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  async #heard(message: Fields, pass: () => void): Promise<void> {
    const host = this.#host();
    const uris = listenedResources(message);
    if (host && message["method"] === "notifications/cancelled")
      this.#cancelled((message["params"] as Fields | undefined)?.["requestId"] as Id, host);
    if (!host || uris.length === 0) return pass();
    this.#listened.set(message["id"] as Id, uris);
    // What changes after the client was told that it is heard must not be missed.
    await host.listen(uris);
    pass();
  }

  #cancelled(id: Id, host: ListenHost): void {
    const uris = this.#listened.get(id) ?? [];
    this.#listened.delete(id);
    const still = new Set([...this.#listened.values()].flat());
    host.unlisten(uris.filter((uri) => !still.has(uri)));
  }
}
