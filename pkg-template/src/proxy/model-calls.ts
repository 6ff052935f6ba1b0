// Tells of the calls of a model that one request of a client makes.
import { quietly } from "../telemetry/quietly.js";
import { chunksOf, streamOf } from "./bodies.js";
import type { Fields } from "./dialect.js";
import type { ModelCallCompleted, ProxyHooks } from "./hook-types.js";
import { countsOf } from "./usage.js";

/** What is known of the calls of a request. */
type About = Pick<ModelCallCompleted, "provider" | "operation" | "model" | "server" | "trace">;
/** What is known of one of them. */
type Told = Pick<ModelCallCompleted, "sent" | "reason" | "tokens" | "tokens_without" | "cut">;

/** The calls of one request, one after the other. Without a hook it does nothing. */
export class ModelCalls {
  readonly #hook: ProxyHooks["model_call_completed"];
  #about: About;
  readonly #failed: (error: unknown) => void;
  #round = 0;
  #call: { readonly at_ms: number; readonly told: Told; status?: number } | undefined;

  constructor(hook: ProxyHooks["model_call_completed"], about: About, failed: (error: unknown) => void) {
    [this.#hook, this.#about, this.#failed] = [hook, about, failed];
  }

  /** What model is asked, where the path does not say it. */
  named({ model }: { readonly model?: string }): void {
    if (model !== undefined) this.#about = { ...this.#about, model };
  }

  /** The model that is asked, where it is known. */
  get model(): string | undefined {
    return this.#about.model;
  }

  /** A request is about to be sent. */
  begin(told: Told): void {
    this.#round += 1;
    this.#call = { at_ms: Date.now(), told };
  }

  /** The answer has begun. */
  answered(status: number): void {
    if (this.#call) this.#call.status = status;
  }

  /** The answer is over: once for each that was begun. */
  end({ usage, error_type }: { readonly usage?: Fields | undefined; readonly error_type?: string } = {}): void {
    const call = this.#call;
    this.#call = undefined;
    if (!call || !this.#hook) return;
    const { at_ms, told, status } = call;
    const error = error_type ?? (status !== undefined && status >= 400 ? String(status) : undefined);
    const event: ModelCallCompleted = {
      hook: "model_call_completed",
      ...this.#about,
      ...told,
      round: this.#round,
      ...(status !== undefined && { status }),
      ...(error !== undefined && { error_type: error }),
      at_ms,
      duration_ms: Date.now() - at_ms,
      ...(usage && { usage: countsOf(usage) }),
    };
    try {
      this.#hook(event);
    } catch (thrown) {
      quietly(() => this.#failed(thrown));
    }
  }

  /** Watches a body that passes as it comes to its end. */
  watched(
    body: ReadableStream<Uint8Array> | null,
    abort: (reason: unknown) => void,
  ): ReadableStream<Uint8Array> | null {
    if (!body) this.end();
    if (!body || !this.#hook) return body;
    const end = (told?: { readonly error_type: string }): void => this.end(told);
    const parts = (async function* () {
      let error_type = "broken_off";
      try {
        yield* chunksOf(body);
        error_type = "";
      } finally {
        end(error_type === "" ? undefined : { error_type });
      }
    })();
    return streamOf(parts, (reason) => {
      this.end({ error_type: "cancelled" });
      abort(reason);
    });
  }
}
