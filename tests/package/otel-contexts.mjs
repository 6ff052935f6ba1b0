// The part of OpenTelemetry's SDK for Node that keeps the active context, without the rest of it.
import { AsyncLocalStorage } from "node:async_hooks";
import { ROOT_CONTEXT } from "@opentelemetry/api";

/** Keeps the active context, as the SDK for Node does. */
export class Contexts {
  #storage = new AsyncLocalStorage();
  active = () => this.#storage.getStore() ?? ROOT_CONTEXT;
  with = (context, run, self, ...args) => this.#storage.run(context, () => run.apply(self, args));
  bind = (context, target) => target;
  enable = () => this;
  disable = () => this;
}
