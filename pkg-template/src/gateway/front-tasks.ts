// Calls that become tasks: in the extension of revision 2026-07-28, where the server decides, and in the experimental form of
// 2025-11-25, where the client asks. A client gets a task where it knows the form that the server has; for others the gateway waits.
import { lackingFor } from "./bridge.js";
import type { UpstreamCall } from "./bridge.js";
import type { JsonObject } from "../types.js";
import { failureOf, maskedText } from "./failure.js";
import type { ServedClient } from "./front-client.js";
import { protocolError, toldError } from "./front-errors.js";
import type { FrontHost } from "./front-host.js";
import { keptResult } from "./front-results.js";
import type { FrontRounds } from "./front-rounds.js";
import type { FrontUpstream } from "./front-upstream.js";
import { pause } from "./pause.js";
import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CAPABILITY } from "./rpc-codes.js";
import type { ForwardedCall } from "./runtime-types.js";
import type { Fields, McpRequest, RequestContext, SdkServer } from "./server-sdk.js";
import { TASKS, asResult } from "./task-wire.js";
import { isTerminal, stateOf } from "./tasks.js";
import type { GatewayTask } from "./tasks.js";

/** The SDK checks requests of methods that it does not know by what it is given; they are checked here. */
const ANY = { "~standard": { version: 1, vendor: "contextweaver", validate: (value: unknown) => ({ value }) } };
/** Under this key of `_meta` stands of which task a result of 2025-11-25 is. */
const RELATED = "io.modelcontextprotocol/related-task";
/** What a server of 2025-11-25 declares that takes calls as tasks. */
const LEGACY = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
/** Tasks on a page of `tasks/list`. */
const PAGE = 100;
/** Milliseconds between two questions how a task stands, where its server does not say: at first, and at most. */
const FIRST_POLL_MS = 200;
const MOST_POLL_MS = 5_000;

/** A call of a client that may become a task. */
export interface TaskCall {
  readonly about: ForwardedCall;
  readonly call: UpstreamCall;
  /** Makes what the client gets of a result. */
  readonly finish: (result: Fields, context: RequestContext) => Promise<Fields>;
  /** Runs a part of the call, which is over when that fails. */
  readonly closing: <T>(run: () => Promise<T>) => Promise<T>;
}

/** A task for which the gateway waits on behalf of a client. */
interface WaitedTask extends TaskCall {
  readonly place: Pick<GatewayTask, "server" | "task">;
  /** Whether it is one of the extension. */
  readonly isExtension: boolean;
  /** The questions of the server that were answered: it may repeat them until it has read the answers. */
  readonly answered: Set<string>;
}

/** Capabilities of the gateway for tasks of 2025-11-25; none where no server has them. */
export function legacyTasks(host: FrontHost): Fields {
  return host.declaresTasks() ? { tasks: LEGACY } : {};
}

/** The tasks of a client. */
export class FrontTasks {
  readonly #host: FrontHost;
  readonly #client: ServedClient;
  readonly #rounds: FrontRounds;
  readonly #upstream: FrontUpstream;

  constructor(host: FrontHost, client: ServedClient, rounds: FrontRounds, upstream: FrontUpstream) {
    [this.#host, this.#client, this.#rounds, this.#upstream] = [host, client, rounds, upstream];
  }

  /** Takes the requests that are about tasks. */
  register(server: SdkServer): void {
    const on = (method: string, run: (params: Fields, context: RequestContext) => Promise<Fields>): void =>
      server.setRequestHandler(method, { params: ANY }, (params, context) => run(params, context));
    if (this.#client.is_modern) {
      on("tasks/get", async (params, context) =>
        detailed(params["taskId"] as string, await this.#current(params, context)),
      );
      on("tasks/update", (params, context) =>
        this.#passed("tasks/update", params, context, {
          inputResponses: params["inputResponses"] ?? context.mcpReq.inputResponses ?? {},
        }),
      );
      on("tasks/cancel", (params, context) => this.#passed("tasks/cancel", params, context));
      return;
    }
    on("tasks/get", async (params, context) => flat(params["taskId"] as string, await this.#current(params, context)));
    on("tasks/result", (params, context) => this.#result(params, context));
    on("tasks/cancel", (params, context) => this.#cancelled(params, context));
    on("tasks/list", ({ cursor }) => Promise.resolve(this.#list(cursor)));
  }

  /** What goes with a call to a server of 2025-11-25: the client wants a task, or the tool is none without one. */
  wanted({ server, task_support }: ForwardedCall, asked: unknown): Fields {
    if (task_support === undefined || !this.#host.upstream(server).takesTasks) return {};
    if (!this.#client.is_modern && typeof asked === "object" && asked !== null) return { task: asked };
    return task_support === "required" ? { task: {} } : {};
  }

  /** What the client gets of a call that became a task: a task of its own, what comes of it, or questions. Nothing where it is none. */
  async begun(waiting: TaskCall, result: Fields, asked: unknown, context: RequestContext): Promise<Fields | undefined> {
    const { about } = waiting;
    const isExtension = result["resultType"] === "task";
    const given = (isExtension ? result : result["task"]) as Fields | undefined;
    if (
      typeof given !== "object" ||
      given === null ||
      typeof given["taskId"] !== "string" ||
      (!isExtension && result["content"] !== undefined)
    )
      return undefined;
    const knows = isExtension
      ? this.#client.is_modern && this.#declares(context)
      : !this.#client.is_modern && typeof asked === "object" && asked !== null;
    if (!knows) {
      const place = { server: about.server, task: given["taskId"] };
      return this.#waited({ ...waiting, place, isExtension, answered: new Set() }, given, context);
    }
    const { server, tool, arguments: args, app, result_tokens, result_chars } = about;
    const limits = {
      ...(app && { app }),
      ...(result_tokens !== undefined && { result_tokens }),
      ...(result_chars !== undefined && { result_chars }),
    };
    const task: GatewayTask = {
      caller: this.#client.caller,
      server,
      task: given["taskId"],
      tool,
      arguments: args,
      ...limits,
      state: stateOf(given),
      since: Date.now(),
    };
    this.#host.runtime.cancelCall(about.call);
    const id = await this.#host.tasks.add(task);
    return isExtension ? { ...wire(id, task), resultType: "task" } : asResult(flat(id, task));
  }

  #declares(context: RequestContext): boolean {
    const { extensions } = this.#client.capabilities(context) as { readonly extensions?: Fields };
    return extensions?.[TASKS] !== undefined;
  }

  /** The task that a request names. */
  #task({ taskId }: Fields, context: RequestContext): GatewayTask {
    if (this.#client.is_modern && !this.#declares(context)) {
      throw protocolError(this.#host, MISSING_CAPABILITY, `the client has not declared ${TASKS}`, {
        requiredCapabilities: { extensions: { [TASKS]: {} } },
      });
    }
    const task = typeof taskId === "string" ? this.#host.tasks.find(taskId, this.#client.caller) : undefined;
    if (!task) throw protocolError(this.#host, INVALID_PARAMS, "the task is not known");
    return task;
  }

  /** How a task stands now. */
  async #current(params: Fields, context: RequestContext): Promise<GatewayTask> {
    const task = this.#task(params, context);
    if (isTerminal(task.state.status)) return task;
    const id = params["taskId"] as string;
    const { tasks } = this.#host;
    // Two who ask at the same time do not both keep the result.
    const asking = tasks.ending.get(id) ?? this.#asked(id, task, context).finally(() => tasks.ending.delete(id));
    tasks.ending.set(id, asking);
    return asking;
  }

  async #asked(id: string, task: GatewayTask, context: RequestContext): Promise<GatewayTask> {
    const said = await this.#ask(task, "tasks/get", context, {}, ofNobody());
    const state = stateOf(said);
    const end = isTerminal(state.status) ? await this.#end(task, state.status, said, context) : undefined;
    const now: GatewayTask = { ...task, state: masked(state), ...(end && { end }) };
    await this.#host.tasks.put(id, now);
    return now;
  }

  /** What the client gets of a task that has ended. */
  async #end(
    task: GatewayTask,
    status: string,
    said: Fields,
    context: RequestContext,
  ): Promise<GatewayTask["end"] | undefined> {
    if (status === "cancelled") return undefined;
    if (status === "failed" && typeof said["error"] === "object") {
      const { code, message } = said["error"] as Fields;
      return {
        error: { code: typeof code === "number" ? code : INTERNAL_ERROR, message: maskedText(String(message), []) },
      };
    }
    let result: Fields;
    try {
      result =
        (said["result"] as Fields | undefined) ?? (await this.#ask(task, "tasks/result", context, {}, ofNobody()));
    } catch (error) {
      const { code = INTERNAL_ERROR, message } = failureOf(error, []);
      return { error: { code, message } };
    }
    return { result: await this.#kept(task, result, context) };
  }

  /** Keeps the result of a task as one of a call, and counts it. */
  async #kept(task: GatewayTask, result: Fields, context: RequestContext): Promise<Fields> {
    const kept = await keptResult(this.#host, this.#client, task, result, context);
    if ("refusal" in kept) return kept.refusal;
    const { server, tool } = task;
    this.#host.runtime.finishTask({
      session: this.#client.key,
      server,
      tool,
      measured: kept.measured,
      now_ms: Date.now(),
    });
    const { resultType: _, ...own } = kept.digested.result;
    return own;
  }

  /** Asks the server of a task. */
  async #ask(
    { server, task }: Pick<GatewayTask, "server" | "task">,
    method: string,
    context: RequestContext,
    more: Fields = {},
    signal: AbortSignal = context.mcpReq.signal,
  ): Promise<Fields> {
    const call = this.#upstream.call(context);
    call.start(() =>
      this.#upstream.send(
        server,
        call,
        method,
        { taskId: task, ...more },
        { envelope: this.#client.envelope(context), watched: undefined },
      ),
    );
    const progress = await call.next(context, signal);
    if ("result" in progress) return progress.result;
    throw toldError(
      this.#host,
      "error" in progress
        ? progress.error
        : protocolError(this.#host, INTERNAL_ERROR, "the server asks what this client cannot answer"),
    );
  }

  /** Passes a request of the extension on; its answer says nothing. */
  async #passed(method: string, params: Fields, context: RequestContext, more?: Fields): Promise<Fields> {
    const task = this.#task(params, context);
    if (!isTerminal(task.state.status)) await this.#ask(task, method, context, more);
    return {};
  }

  /** What came of a task of 2025-11-25: waits until it has ended. */
  async #result(params: Fields, context: RequestContext): Promise<Fields> {
    const id = params["taskId"] as string;
    let task = await this.#current(params, context);
    for (let wait = FIRST_POLL_MS; !isTerminal(task.state.status); wait = Math.min(2 * wait, MOST_POLL_MS)) {
      // The server asks its questions while the result is waited for.
      if (task.state.status === "input_required") await this.#ask(task, "tasks/result", context).catch(() => undefined);
      else await pause(Math.min(task.state.poll ?? wait, MOST_POLL_MS), context.mcpReq.signal);
      if (context.mcpReq.signal.aborted) break;
      task = await this.#current(params, context);
    }
    if (task.end && "result" in task.end)
      return {
        ...task.end.result,
        _meta: { ...(task.end.result["_meta"] as Fields | undefined), [RELATED]: { taskId: id } },
      };
    const { code, message } = task.end?.error ?? { code: INTERNAL_ERROR, message: `the task is ${task.state.status}` };
    throw protocolError(this.#host, code as number, message as string);
  }

  async #cancelled(params: Fields, context: RequestContext): Promise<Fields> {
    const id = params["taskId"] as string;
    const task = this.#task(params, context);
    if (isTerminal(task.state.status))
      throw protocolError(this.#host, INVALID_PARAMS, `the task is ${task.state.status} already`);
    const now: GatewayTask = { ...task, state: masked(stateOf(await this.#ask(task, "tasks/cancel", context))) };
    await this.#host.tasks.put(id, now);
    return flat(id, now);
  }

  #list(cursor: unknown): Fields {
    if (this.#client.is_modern) throw protocolError(this.#host, METHOD_NOT_FOUND, "Method not found");
    const all = this.#host.tasks.of(this.#client.caller);
    const start = cursor === undefined ? 0 : all.findIndex(([id]) => id === cursor);
    if (start === -1)
      throw protocolError(this.#host, INVALID_PARAMS, "this cursor is not one of the gateway, or its task has gone");
    const next = all[start + PAGE]?.[0];
    return {
      tasks: all.slice(start, start + PAGE).map(([id, task]) => flat(id, task)),
      ...(next !== undefined && { nextCursor: next }),
    };
  }

  /** Waits for a task on behalf of a client that knows no tasks; `said` is how it stands. */
  async #waited(waiting: WaitedTask, said: Fields, context: RequestContext): Promise<Fields> {
    const { place, isExtension, answered, finish } = waiting;
    const { signal } = context.mcpReq;
    const cancel = (): void => this.#cancel(place, context);
    signal.addEventListener("abort", cancel, { once: true });
    try {
      let now = said;
      let state = stateOf(now);
      for (let wait = FIRST_POLL_MS; !isTerminal(state.status); wait = Math.min(2 * wait, MOST_POLL_MS)) {
        if (state.status === "input_required") {
          // The server asks its questions while the result is waited for.
          if (!isExtension) break;
          const open = Object.entries(state.asks ?? {}).filter(([key]) => !answered.has(key));
          if (open.length > 0) return await this.#questions(waiting, Object.fromEntries(open), context);
        }
        await pause(Math.min(state.poll ?? wait, MOST_POLL_MS), signal);
        if (signal.aborted) throw protocolError(this.#host, INTERNAL_ERROR, "the call was cancelled");
        now = await this.#ask(place, "tasks/get", context);
        state = stateOf(now);
      }
      if (state.status === "cancelled")
        throw protocolError(this.#host, INTERNAL_ERROR, "the server has cancelled the task");
      if (state.status === "failed" && typeof now["error"] === "object") {
        const { code, message } = now["error"] as Fields;
        throw protocolError(
          this.#host,
          typeof code === "number" ? code : INTERNAL_ERROR,
          maskedText(String(message), []),
        );
      }
      const result =
        (now["result"] as Fields | undefined) ??
        (isExtension
          ? ((await this.#ask(place, "tasks/get", context))["result"] as Fields | undefined)
          : await this.#ask(place, "tasks/result", context));
      if (result === undefined)
        throw protocolError(this.#host, INTERNAL_ERROR, "the server has ended the task without a result");
      return await finish(result, context);
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  /** Has the client answer questions of a task, and waits on. A task that nobody can answer is cancelled. */
  async #questions(waiting: WaitedTask, asks: Fields, context: RequestContext): Promise<Fields> {
    const { place, answered, call, closing } = waiting;
    const requests = asks as Readonly<Record<string, McpRequest>>;
    const capabilities = this.#client.capabilities(context);
    const lacking = Object.values(requests).map((request) => lackingFor(capabilities, request));
    const missing = lacking.find((one) => one !== undefined);
    if (missing !== undefined) {
      this.#cancel(place, context);
      const message = `the server has to ask for ${missing}, which the client does not support; its task was cancelled`;
      throw protocolError(this.#host, INTERNAL_ERROR, message);
    }
    // The request of a client of 2026-07-28 is over once it knows the questions; the call is given up when nobody comes back.
    const signals = this.#client.is_modern ? [call.signal] : [call.signal, context.mcpReq.signal];
    const cancel = (): void => this.#cancel(place, context);
    for (const signal of signals) signal.addEventListener("abort", cancel, { once: true });
    const resume = (then: RequestContext): Promise<Fields> =>
      closing(async () => {
        for (const signal of signals) signal.removeEventListener("abort", cancel);
        const inputResponses = then.mcpReq.inputResponses ?? {};
        await this.#ask(place, "tasks/update", then, { inputResponses });
        for (const key of Object.keys(inputResponses)) answered.add(key);
        return this.#waited(waiting, {}, then);
      });
    return this.#rounds.ask({ call, resume }, requests, context);
  }

  /** Cancels a task over the connection that it is of; a server that does not hear it goes on in vain. */
  #cancel({ server, task }: WaitedTask["place"], context: RequestContext): void {
    const connection = this.#upstream.connection(this.#host.upstream(server), context);
    const meta = connection.era === "modern" && { meta: this.#client.envelope(context) as JsonObject };
    connection.request("tasks/cancel", { taskId: task }, { ...meta }).catch(() => undefined);
  }
}

/** The signal of what several requests wait for: none of their clients cancels it. Workers make none outside of a request. */
function ofNobody(): AbortSignal {
  return new AbortController().signal;
}

function masked(state: GatewayTask["state"]): GatewayTask["state"] {
  return state.message === undefined ? state : { ...state, message: maskedText(state.message, []) };
}

/** A task in the extension, without what came of it. */
function wire(taskId: string, { state }: GatewayTask): Fields {
  const { status, message, created: createdAt, updated: lastUpdatedAt, ttl: ttlMs, poll } = state;
  return {
    taskId,
    status,
    ...(message !== undefined && { statusMessage: message }),
    createdAt,
    lastUpdatedAt,
    ttlMs,
    ...(poll !== undefined && { pollIntervalMs: poll }),
  };
}

/** The same with what came of it, or what its server wants to know. */
function detailed(id: string, task: GatewayTask): Fields {
  const { asks, status } = task.state;
  return { ...wire(id, task), ...(status === "input_required" && asks && { inputRequests: asks }), ...task.end };
}

/** A task of 2025-11-25. */
function flat(taskId: string, { state }: GatewayTask): Fields {
  const { status, message, created: createdAt, updated: lastUpdatedAt, ttl, poll } = state;
  return {
    taskId,
    status,
    ...(message !== undefined && { statusMessage: message }),
    createdAt,
    lastUpdatedAt,
    ttl,
    ...(poll !== undefined && { pollInterval: poll }),
  };
}
