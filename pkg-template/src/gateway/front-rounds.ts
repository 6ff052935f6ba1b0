// Calls that take several rounds: what the client must answer before they go on, and the request by which it comes back.
import type { CallProgress, UpstreamCall } from "./bridge.js";
import { failureOf } from "./failure.js";
import type { ServedClient } from "./front-client.js";
import { protocolError } from "./front-errors.js";
import type { FrontHost, RoundState, WaitingCall } from "./front-host.js";
import type { GatewayCallMethod } from "./hook-types.js";
import { INVALID_PARAMS, URL_ELICITATION_REQUIRED } from "./rpc-codes.js";
import type { Fields, McpRequest, RequestContext } from "./server-sdk.js";
import type { WatchedCall } from "./watch.js";

/** The calls that hooks are told of, by their requests: a call that asks the client goes on with another one. */
const watching = new WeakMap<RequestContext, WatchedCall>();

/** The rounds of a client's calls. */
export class FrontRounds {
  readonly #host: FrontHost;
  readonly #client: ServedClient;

  constructor(host: FrontHost, client: ServedClient) {
    [this.#host, this.#client] = [host, client];
  }

  /** Goes on with a call that waits for answers which this request brings, or begins one. */
  async run(method: GatewayCallMethod, context: RequestContext, begin: () => Promise<Fields>): Promise<Fields> {
    const state = context.mcpReq.requestState<RoundState>();
    if (!state) return watchedRun(this.#host.watch?.begin(method, this.#client.watched(context)), context, begin);
    const waiting = this.#host.waiting.take(state.waiting, this.#client.key);
    if (!waiting) throw protocolError(this.#host, INVALID_PARAMS, "the call does not wait any more: begin it again");
    waiting.call.answer(context.mcpReq.inputResponses ?? {});
    return watchedRun(waiting.watched, context, () => waiting.resume(context));
  }

  /** A result by which the client learns what it must answer first. */
  async ask(
    asking: Pick<WaitingCall, "call" | "resume">,
    inputRequests: Readonly<Record<string, McpRequest>>,
    context: RequestContext,
  ): Promise<Fields> {
    const key = crypto.randomUUID();
    const watched = watchedOf(context);
    // Nobody waits for its end then.
    if (watched) asking.call.signal.addEventListener("abort", () => watched.complete("cancelled"), { once: true });
    this.#host.waiting.put(key, { ...asking, session: this.#client.key, watched });
    const requestState = await this.#host.state.mint({ waiting: key }, context);
    return { resultType: "input_required", inputRequests, requestState };
  }

  /** What the client must answer before a call goes on: questions of an upstream, an `input_required` result, pages to be opened. */
  async asked(
    progress: CallProgress,
    call: UpstreamCall,
    context: RequestContext,
    send: (answers?: Fields) => void,
    proceed: (context: RequestContext) => Promise<Fields>,
  ): Promise<Fields | undefined> {
    if ("questions" in progress) return this.ask({ call, resume: proceed }, progress.questions, context);
    const again =
      (answers: (then: RequestContext) => Fields | undefined) =>
      (then: RequestContext): Promise<Fields> => {
        send(answers(then));
        return proceed(then);
      };
    if ("result" in progress) {
      const { resultType, inputRequests, requestState } = progress.result;
      if (resultType !== "input_required") return undefined;
      const state = requestState === undefined ? {} : { requestState };
      const resume = again((then) => ({ ...state, ...answersOf(then) }));
      return this.ask({ call, resume }, (inputRequests ?? {}) as Record<string, McpRequest>, context);
    }
    const { code, data } = failureOf(progress.error, []);
    if (code !== URL_ELICITATION_REQUIRED || !this.#client.is_modern) return undefined;
    const pages = ((data as Fields | undefined)?.["elicitations"] ?? []) as readonly Fields[];
    const requests = pages.map(
      ({ message, url }, at) =>
        [`page-${at + 1}`, { method: "elicitation/create", params: { mode: "url", message, url } }] as const,
    );
    return requests.length > 0
      ? this.ask({ call, resume: again(() => undefined) }, Object.fromEntries(requests), context)
      : undefined;
  }
}

/** What hooks are told of the call that a request is of. */
export function watchedOf(context: RequestContext): WatchedCall | undefined {
  return watching.get(context);
}

/** What a client answers to an upstream's questions. */
export function answersOf({ mcpReq: { inputResponses } }: RequestContext): Fields | undefined {
  return inputResponses && { inputResponses };
}

/** Runs a request of a call that hooks may be told of. */
function watchedRun(
  watched: WatchedCall | undefined,
  context: RequestContext,
  run: () => Promise<Fields>,
): Promise<Fields> {
  if (!watched) return run();
  watching.set(context, watched);
  return watched.during(context.mcpReq.signal, run);
}
