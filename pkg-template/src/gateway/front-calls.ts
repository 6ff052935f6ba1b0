// Calls of tools: the runtime says step by step what becomes of one, and what a server answers goes to whoever keeps results.
import type { DrilldownInput } from "../adapters/read-on.js";
import type { JsonObject } from "../types.js";
import { canElicit } from "./bridge.js";
import type { CallProgress, UpstreamCall } from "./bridge.js";
import { failureOf, maskedText } from "./failure.js";
import type { ServedClient } from "./front-client.js";
import { protocolError } from "./front-errors.js";
import type { FrontHost } from "./front-host.js";
import { keptResult } from "./front-results.js";
import { answersOf, watchedOf } from "./front-rounds.js";
import type { FrontRounds } from "./front-rounds.js";
import type { FrontTasks } from "./front-tasks.js";
import type { FrontUpstream } from "./front-upstream.js";
import { pause } from "./pause.js";
import { INTERNAL_ERROR, MISSING_CAPABILITY } from "./rpc-codes.js";
import type { ForwardedCall, NextStep, StoredPart } from "./runtime-types.js";
import type { Fields, McpRequest, RequestContext } from "./server-sdk.js";

/** The question by which a call is confirmed. */
const CONFIRM = "confirm";

/** The calls of tools of a client. */
export class FrontCalls {
  readonly #host: FrontHost;
  readonly #client: ServedClient;
  readonly #rounds: FrontRounds;
  readonly #upstream: FrontUpstream;
  readonly #tasks: FrontTasks;
  readonly #toolsChanged: () => void;

  /** `toolsChanged` hears when the client sees other tools after a call. */
  constructor(
    host: FrontHost,
    client: ServedClient,
    rounds: FrontRounds,
    upstream: FrontUpstream,
    tasks: FrontTasks,
    toolsChanged: () => void,
  ) {
    [this.#host, this.#client, this.#rounds, this.#upstream, this.#tasks, this.#toolsChanged] = [
      host,
      client,
      rounds,
      upstream,
      tasks,
      toolsChanged,
    ];
  }

  async begin({ params = {} }: McpRequest, context: RequestContext): Promise<Fields> {
    await this.#host.started();
    await this.#upstream.introduce(context);
    const { key: session, caller, results } = this.#client;
    const { handle } = (params["arguments"] ?? {}) as Fields;
    const owned = typeof handle === "string" ? await results.ownerOf(handle) : undefined;
    if (owned) this.#host.runtime.ownHandles(session, [owned]);
    const step = this.#host.runtime.beginCall({
      session,
      caller,
      name: String(params["name"]),
      arguments: (params["arguments"] ?? {}) as JsonObject,
      ...(context.mcpReq._meta !== undefined && { meta: context.mcpReq._meta as JsonObject }),
      client: this.#client.name(context),
      can_confirm: canElicit(this.#client.capabilities(context)),
      now_ms: Date.now(),
    });
    return this.#take(step, context, params["task"]);
  }

  /** `task`: what a client of 2025-11-25 says of the task that it wants. */
  async #take(step: NextStep, context: RequestContext, task?: unknown): Promise<Fields> {
    watchedOf(context)?.note(step.info);
    if ("reply" in step) return step.reply;
    if ("error" in step) throw protocolError(this.#host, step.error.code, step.error.message, step.error.data);
    if ("drilldown" in step) return this.#read(step.drilldown, context);
    if ("recall" in step) {
      const { reply, error_type } = await this.#client.results.recall(step.recall);
      if (error_type !== undefined) watchedOf(context)?.failed(error_type);
      return reply;
    }
    if ("confirm" in step) return this.#confirm(step.confirm, context, task);
    if ("forward" in step) return this.#run(step.forward, context, task);
    throw protocolError(this.#host, INTERNAL_ERROR, "a call that has not begun cannot be tried again");
  }

  /** Reads a part of a stored result. */
  async #read(part: StoredPart, context: RequestContext): Promise<Fields> {
    const { reply, error_type } = await this.#client.results.read(part as unknown as DrilldownInput);
    if (error_type !== undefined) watchedOf(context)?.failed(error_type);
    return reply;
  }

  /** Has the user confirm a call, by a form without fields. */
  async #confirm(
    { call, message }: { readonly call: number; readonly message: string },
    context: RequestContext,
    task: unknown,
  ): Promise<Fields> {
    const asking = this.#upstream.call(context);
    const resume = (then: RequestContext): Promise<Fields> => {
      const answer = then.mcpReq.inputResponses?.[CONFIRM] as Fields | undefined;
      return this.#take(this.#host.runtime.confirmCall(call, answer?.["action"] === "accept", Date.now()), then, task);
    };
    asking.signal.addEventListener("abort", () => this.#host.runtime.cancelCall(call), { once: true });
    const form = {
      message,
      requestedSchema: { type: "object", properties: {} },
      ...(this.#client.is_modern && { mode: "form" }),
    };
    return this.#closing(call, () =>
      this.#rounds.ask(
        { call: asking, resume },
        { [CONFIRM]: { method: "elicitation/create", params: form } },
        context,
      ),
    );
  }

  /** Runs a part of a call, which is not open any more when that fails. */
  async #closing<T>(call: number, run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      this.#host.runtime.cancelCall(call);
      throw error;
    }
  }

  /** Sends a call to its server until it is answered, and hands the result to whoever keeps it. */
  async #run(about: ForwardedCall, context: RequestContext, task: unknown): Promise<Fields> {
    const { runtime } = this.#host;
    const call = this.#upstream.call(context);
    call.signal.addEventListener("abort", () => runtime.cancelCall(about.call), { once: true });
    const send = (answers?: Fields): void => {
      const envelope = this.#client.envelope(context);
      const params = { name: about.tool, arguments: about.arguments, ...this.#tasks.wanted(about, task), ...answers };
      call.start(() =>
        this.#upstream.send(about.server, call, "tools/call", params, {
          meta: about.meta,
          envelope,
          watched: watchedOf(context),
        }),
      );
    };
    const proceed = (now: RequestContext): Promise<Fields> => this.#closing(about.call, () => run(now));
    const run = async (now: RequestContext): Promise<Fields> => {
      for (;;) {
        const progress = await call.next(now);
        const asked = await this.#rounds.asked(progress, call, now, send, proceed);
        if (asked) return asked;
        const lacking = this.#lacking(call, progress);
        if (lacking) throw lacking;
        if ("result" in progress) {
          const finish = (result: Fields, then: RequestContext): Promise<Fields> => this.#finish(about, result, then);
          const waiting = { about, call, finish, closing: <T>(go: () => Promise<T>) => this.#closing(about.call, go) };
          return (await this.#tasks.begun(waiting, progress.result, task, now)) ?? finish(progress.result, now);
        }
        if (!("error" in progress)) continue;
        const after = runtime.failCall({
          call: about.call,
          failure: failureOf(progress.error, []),
          random: Math.random(),
        });
        if (!("retry" in after)) return this.#take(after, now);
        await pause(after.retry.after_ms, call.signal);
        send();
      }
    };
    return this.#closing(about.call, () => (send(answersOf(context)), run(context)));
  }

  /**
   * Revision 2026-07-28 has an error for what failed since the client cannot answer the server's questions. Servers of the earlier ones
   * cannot know it: for each request it is another client.
   */
  #lacking(call: UpstreamCall, progress: CallProgress): Error | undefined {
    const { lacking } = call;
    if (lacking === undefined || !this.#client.is_modern) return undefined;
    const said =
      "error" in progress
        ? failureOf(progress.error, []).message
        : "result" in progress && progress.result["isError"] === true
          ? textOf(progress.result)
          : undefined;
    if (said === undefined) return undefined;
    const message = `the server asked for ${Object.keys(lacking).join(", ")}, which the client has not declared: ${maskedText(said, [])}`;
    return protocolError(this.#host, MISSING_CAPABILITY, message, { requiredCapabilities: lacking });
  }

  /** What the client gets of a result. */
  async #finish(about: ForwardedCall, result: Fields, context: RequestContext): Promise<Fields> {
    const kept = await keptResult(this.#host, this.#client, about, result, context);
    if ("refusal" in kept) {
      watchedOf(context)?.failed(kept.code);
      this.#host.runtime.cancelCall(about.call);
      return kept.refusal;
    }
    const { digested, measured } = kept;
    watchedOf(context)?.measured(digested);
    const reply = about.keeps_reply && { reply: digested.result as JsonObject };
    const { meta, changed } = this.#host.runtime.finishCall({
      call: about.call,
      ...reply,
      measured,
      now_ms: Date.now(),
    });
    if (changed.tools) this.#toolsChanged();
    return meta
      ? { ...digested.result, _meta: { ...(digested.result["_meta"] as Fields | undefined), ...meta } }
      : digested.result;
  }
}

/** The text of a result. */
function textOf({ content }: Fields): string {
  const blocks = Array.isArray(content) ? (content as readonly Fields[]) : [];
  return blocks.map(({ text }) => (typeof text === "string" ? text : "")).join("\n");
}
