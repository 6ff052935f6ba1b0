// `contextweaver/openai-agents`: the run loop of OpenAI's Agents SDK. It imports no SDK.
import { AgentItems } from "./adapters/agent-items.js";
import { AgentLoop, addedOffers, argumentsOf, callOffer, framedTokens, pricesOf } from "./adapters/agent-loop.js";
import type {
  AgentLoopOptions,
  AgentLoopStep,
  DescribedTool,
  Debug,
  LeftOut,
  LoopReport,
  StepReport,
  OfferedTool,
} from "./adapters/agent-loop.js";
import type { LoopCosts } from "./adapters/loop-report.js";
import { CacheKey, beginning, checkedCacheKey, isOpenAiModel } from "./adapters/cache-key.js";
import { choiceOf } from "./adapters/forced-choice.js";
import { handleOf } from "./adapters/handle.js";
import type { ContextWeaverHandle } from "./adapters/handle.js";
import { wellFormed } from "./boundary/repairs.js";
import { ContextWeaverError } from "contextweaver";
import type { JsonObject } from "contextweaver";

export type { AgentLoopOptions, AgentLoopStep, ContextWeaverHandle, Debug, LoopCosts, LeftOut, LoopReport, StepReport };

/** How the runs of a conversation are served. */
export interface AgentOptions extends AgentLoopOptions {
  /**
   * `prompt_cache_key` of the calls, by which OpenAI sends those of a conversation to where its prompt is cached: a text, or `true` for
   * one that is made of the instructions and the first message. A key in `modelSettings.providerData` stays. Default: `true` for models
   * of OpenAI, by their names; other providers with the same API may refuse it.
   */
  readonly cache_key?: boolean | string;
}

/** A tool that is added to an agent. */
export interface AgentAddedTool {
  type: "function";
  name: string;
  description: string;
  parameters: { type: "object"; properties: Record<string, object>; required: string[]; additionalProperties: false };
  strict: boolean;
  invoke: (
    context: unknown,
    input: string,
    details?: { readonly toolCall?: { readonly callId?: string } },
  ) => Promise<string>;
  needsApproval: () => Promise<boolean>;
  isEnabled: () => Promise<boolean>;
}

/** A call of a model by the SDK, as far as it is fitted. */
export interface AgentModelRequest {
  readonly input: string | readonly object[];
  readonly tools: readonly object[];
  readonly handoffs: readonly object[];
  readonly systemInstructions?: string | undefined;
  readonly modelSettings: object;
  readonly previousResponseId?: string | undefined;
  readonly conversationId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A model of the SDK, as far as it is served. */
export interface AgentModel {
  getResponse(request: never): Promise<unknown>;
  getStreamedResponse(request: never): AsyncIterable<unknown>;
}

/** What names models in the SDK, as far as it is served. */
export interface AgentModelProvider {
  getModel(name?: string): unknown;
}

/** What serves the runs of one conversation. */
export interface AgentContextWeaver extends ContextWeaverHandle {
  /** An agent's tools, and those that are added: every agent of the conversation takes them so. */
  tools<Tool extends object = never>(tools: readonly Tool[]): (Tool | AgentAddedTool)[];
  /**
   * A model each of whose calls is fitted, or a provider of such models, for `Agent` and `Runner`. Of the agent's tools it is
   * offered those that the step needs; state, sessions and traces of the run hold what was said, not what was sent.
   *
   * Errors of a call: `BUDGET_EXCEEDED` when the last message of the user does not fit, `UNSUPPORTED` for a conversation that the
   * provider holds, `NOT_FOUND` when the agent lacks the added tools, and those of `ContextManager.syncMessages`.
   */
  serve<Served extends AgentModel | AgentModelProvider>(model: Served): Served;
}

/**
 * Serves one conversation, whatever agents take part in it. Take another one for another conversation; the turns of one may be any
 * number of runs. An agent that is a tool of another holds a conversation of its own.
 */
export function contextWeaver(options: AgentOptions): AgentContextWeaver {
  const { cache_key, ...rest } = options ?? {};
  const key = new CacheKey(checkedCacheKey(cache_key));
  const loop = new AgentLoop(rest, ["cache_key"]);
  const fitting = new Fitting(loop, key);
  return {
    tools: (tools) => [...tools, ...allAdded().map((offer) => addedTool(offer, loop))],
    serve: (served) =>
      ("getModel" in served
        ? servedProvider(served, fitting)
        : servedModel(served as AgentModel, fitting)) as typeof served,
    ...handleOf(loop),
  };
}

type Fields = Readonly<Record<string, unknown>>;

class Fitting {
  readonly #loop: AgentLoop;
  /** The tools of the agent whose turn it is, as JSON. */
  #tools = "";
  #byName: ReadonlyMap<string, Fields> = new Map();
  readonly #key: CacheKey;

  constructor(loop: AgentLoop, key: CacheKey) {
    [this.#loop, this.#key] = [loop, key];
  }

  async fit<Request extends AgentModelRequest>(request: Request, model: string): Promise<Request> {
    const { input, tools, handoffs, systemInstructions: said, modelSettings } = request;
    const systemInstructions = said === undefined ? undefined : wellFormed(said);
    const held = (["previousResponseId", "conversationId"] as const).find((field) => request[field] !== undefined);
    if (held !== undefined) {
      const init = { path: `/${held}`, hint: "run without it: the whole conversation is then sent each time" };
      throw new ContextWeaverError(
        "UNSUPPORTED",
        "the provider holds the conversation, of which nothing can be left out",
        init,
      );
    }
    const byName = (this.#byName = this.#take(tools as readonly Fields[]));
    const items = new AgentItems(
      typeof input === "string" ? [{ type: "message", role: "user", content: input }] : input,
    );
    const { query, called } = lastTurn(items.translated);
    const { toolChoice, ...settings } = modelSettings as Fields;
    const beside = [
      ...(systemInstructions === undefined ? [] : [systemInstructions]),
      ...handoffs.map((handoff) => JSON.stringify(handoff)),
    ];
    const { built, tools: names } = await this.#loop.stepLater("openai-responses", items.translated, {
      query,
      called,
      demanded: typeof toolChoice === "string" ? [toolChoice] : [],
      reserved_tokens: framedTokens(beside),
      before: beside.join("\n"),
      model,
      prices: pricesOf(model),
      signal: request.signal,
    });
    const chosen =
      toolChoice === undefined
        ? settings
        : {
            ...settings,
            toolChoice: choiceOf<unknown>(
              toolChoice,
              typeof toolChoice === "string" ? [toolChoice] : [],
              byName,
              new Set(names),
              "auto",
            ),
          };
    return {
      ...request,
      ...(systemInstructions !== said && { systemInstructions }),
      input: items.written(built.messages),
      tools: names.map((name) => byName.get(name)),
      // A choice among no tools is refused.
      modelSettings: this.#keyed(names.length + handoffs.length > 0 ? chosen : settings, model, () => [
        systemInstructions ?? null,
        ...beginning(items.translated),
      ]),
    };
  }

  /** Adds the key of the conversation to what goes to the provider as it is; one of the caller's stands. */
  #keyed(settings: object, model: string, begins: () => readonly unknown[]): object {
    const key = this.#key.of(isOpenAiModel(model), begins);
    if (key === undefined) return settings;
    return {
      ...settings,
      providerData: { prompt_cache_key: key, ...((settings as Fields)["providerData"] as Fields | undefined) },
    };
  }

  /**
   * Writes calls of `call_tool` in an answer as calls of the agent's own tools: the SDK then runs them as any other, with their
   * approvals and guardrails. A call of an added tool that stays gets arguments that are an object: for any other the SDK asks for an
   * approval, which ends the run.
   */
  resolved<Answer>(answer: Answer): Answer {
    const { output } = (answer ?? {}) as { readonly output?: unknown };
    if (!Array.isArray(output)) return answer;
    const added = new Set<unknown>(allAdded().map(({ name }) => name));
    const items = (output as Fields[]).map((item) => {
      if (item["type"] !== "function_call") return item;
      const given = item["arguments"];
      const call = this.#loop.resolveText(String(item["name"]), given);
      const tool = call && this.#byName.get(call.name);
      if (!tool) {
        const isOdd = added.has(nameOf(item)) && argumentsOf(given) === undefined;
        return isOdd ? { ...item, arguments: JSON.stringify({ input: given ?? "" }) } : item;
      }
      const { name, namespace } = tool;
      return {
        ...item,
        name,
        ...(namespace !== undefined && { namespace }),
        arguments: call.arguments,
      };
    });
    return items.every((item, at) => item === output[at]) ? answer : { ...answer, output: items };
  }

  /** Takes what the call of the last request cost. */
  observe(model: string, answer: unknown): void {
    const { usage } = (answer ?? {}) as { readonly usage?: Readonly<Record<string, unknown>> };
    const { inputTokensDetails: details } = usage ?? {};
    this.#loop.observe(model, usage?.["inputTokens"], {
      input_tokens_details: Array.isArray(details) ? details[0] : details,
    });
  }

  /** Takes the tools of an agent, by name. */
  #take(tools: readonly Fields[]): ReadonlyMap<string, Fields> {
    const byName = new Map(tools.map((tool) => [nameOf(tool), tool]));
    const added = allAdded().map(({ name }) => name);
    const missing = added.find((name) => !byName.has(name));
    if (missing !== undefined) {
      throw new ContextWeaverError("NOT_FOUND", `the agent has no tool \`${missing}\``, {
        path: "/tools",
        hint: "make it with tools: cw.tools([...])",
      });
    }
    const key = JSON.stringify(tools);
    if (key !== this.#tools) {
      this.#loop.setTools(tools.filter((tool) => !added.includes(nameOf(tool))).map(offered));
      this.#tools = key;
    }
    return byName;
  }
}

/** The name of a tool, with that of the namespace it is of; what the provider runs may have none but its kind. */
function nameOf({ name, namespace, type }: Fields): string {
  return namespace === undefined ? String(name ?? type) : `${String(namespace)}.${String(name)}`;
}

function offered(tool: Fields, at: number): OfferedTool {
  const { type, description, parameters, deferLoading, providerData } = tool;
  if (deferLoading === true || (providerData as Fields | undefined)?.["type"] === "tool_search") {
    const init = {
      path: `/tools/${at}`,
      hint: "leave the search and deferLoading out: find_tools finds among the tools of the agent",
    };
    throw new ContextWeaverError(
      "UNSUPPORTED",
      "the provider's search finds among all tools, of which it is sent some",
      init,
    );
  }
  return {
    name: nameOf(tool),
    description: typeof description === "string" ? description : undefined,
    schema: type === "function" ? (parameters as JsonObject) : undefined,
    definition: tool,
  };
}

/** What the user asked last, and the tools that were called since. */
function lastTurn(items: readonly Fields[]): { readonly query: string; readonly called: readonly string[] } {
  const last = items.map(({ role }) => role).lastIndexOf("user");
  const content = items[last]?.["content"];
  const parts = Array.isArray(content) ? (content as Fields[]) : [{ text: content }];
  return {
    query: parts.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n"),
    called: items
      .slice(last + 1)
      .filter(({ type }) => type === "function_call")
      .map(nameOf),
  };
}

function allAdded(): readonly DescribedTool[] {
  return [...addedOffers(), callOffer()];
}

function addedTool({ name, description, schema }: DescribedTool, loop: AgentLoop): AgentAddedTool {
  return {
    type: "function",
    name,
    description,
    parameters: schema as unknown as AgentAddedTool["parameters"],
    strict: false,
    invoke: (_, input, details) => loop.answerAsync(name, input, details?.toolCall?.callId) as Promise<string>,
    needsApproval: async () => false,
    isEnabled: async () => true,
  };
}

/** Fits what a model is asked, and takes what it cost; all else it is and does is its own. */
function servedModel<Model extends AgentModel>(model: Model, fitting: Fitting, name = modelName(model)): Model {
  const asked = {
    async getResponse(request: AgentModelRequest) {
      const answer = await model.getResponse((await fitting.fit(request, name)) as never);
      fitting.observe(name, answer);
      return fitting.resolved(answer);
    },
    async *getStreamedResponse(request: AgentModelRequest) {
      for await (const event of model.getStreamedResponse((await fitting.fit(request, name)) as never)) {
        const { type, response } = (event ?? {}) as { readonly type?: unknown; readonly response?: unknown };
        if (type !== "response_done") yield event;
        else {
          fitting.observe(name, response);
          yield { ...(event as object), response: fitting.resolved(response) };
        }
      }
    },
  };
  return replaced(model, asked);
}

/** The name of a model, which no interface of the SDK tells; without one, that of its class. */
function modelName(model: object): string {
  const { model: name, _model: inner = name } = model as { readonly model?: unknown; readonly _model?: unknown };
  return typeof inner === "string" && inner !== "" ? inner : model.constructor.name || "model";
}

function servedProvider<Provider extends AgentModelProvider>(provider: Provider, fitting: Fitting): Provider {
  const getModel = async (name?: string): Promise<unknown> =>
    servedModel((await provider.getModel(name)) as AgentModel, fitting, name);
  return replaced(provider, { getModel });
}

/** An object as it is but for some methods. The others run on the object itself, whose private fields no other has. */
function replaced<T extends object>(whole: T, methods: Readonly<Record<string, unknown>>): T {
  return new Proxy(whole, {
    get(target, key) {
      if (typeof key === "string" && Object.hasOwn(methods, key)) return methods[key];
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
