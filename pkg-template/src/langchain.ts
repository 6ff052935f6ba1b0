// `contextweaver/langchain`: middleware for the agents of LangChain 1, `createAgent`. It imports no LangChain: tools are records
// that its loop takes for its own, and messages are made by the classes of those in the request.
import { addedOffers, callOffer, pricesOf } from "./adapters/agent-loop.js";
import type {
  AgentLoop,
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
import { Conversations, catalogAt } from "./adapters/conversations.js";
import type { ConversationsOptions } from "./adapters/conversations.js";
import type { ContextWeaverHandle, ConversationsHandle } from "./adapters/handle.js";
import { choiceOf } from "./adapters/forced-choice.js";
import { LangChainMessages } from "./adapters/langchain-messages.js";
import type { ReadConversation } from "./adapters/langchain-messages.js";
import { lastTurn } from "./adapters/last-turn.js";
import type { FrontCall } from "./adapters/tool-front.js";
import { Catalog, ContextWeaverError, countTokens } from "contextweaver";
import type { AiSdkModelMessage, JsonObject, SchemaConverters } from "contextweaver";

export type {
  AgentLoopOptions,
  AgentLoopStep,
  ContextWeaverHandle,
  ConversationsHandle,
  Debug,
  LoopCosts,
  LeftOut,
  LoopReport,
  StepReport,
  ConversationsOptions,
};

/** How the loops of an agent are served. */
export interface LangChainOptions extends ConversationsOptions, Pick<SchemaConverters, "toJsonSchema"> {}

/** A tool that the middleware adds. An alias, as only these are records to the compiler. */
export type LangChainAddedTool = {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
  readonly invoke: (call: LangChainToolCall, config?: LangChainToolConfig) => Promise<string>;
};

/** A call of a tool. */
export interface LangChainToolCall {
  readonly id?: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** What the framework tells a tool, as far as it is needed. */
export interface LangChainToolConfig {
  readonly configurable?: Readonly<Record<string, unknown>>;
  readonly state?: unknown;
}

/** What the framework tells `wrapModelCall`, as far as it is needed. */
export interface LangChainModelRequest {
  readonly model?: object;
  readonly messages: readonly object[];
  readonly systemMessage: object;
  readonly tools: readonly object[];
  readonly toolChoice?: unknown;
  readonly responseFormat?: unknown;
  readonly state: { readonly messages: readonly object[] };
  readonly runtime: { readonly configurable?: Readonly<Record<string, unknown>> };
}

/** What `createAgent` takes as `middleware`. */
export interface LangChainMiddleware extends ConversationsHandle {
  name: string;
  /** Those of the loop: `drilldown`, `recall`, `find_tools` and `call_tool`. */
  tools: LangChainAddedTool[];
  wrapModelCall: <Request extends LangChainModelRequest, Answer>(
    request: Request,
    handler: (request: Request) => Answer | Promise<Answer>,
  ) => Promise<Answer>;
}

/** By this the framework marks middleware. */
const BRAND = /* @__PURE__ */ Symbol.for("AgentMiddleware");
const FORMAT = "ai-sdk-model";

/**
 * Makes middleware that serves the agent's conversations: before each call of the model the log is brought in line with the
 * messages, large results are digested, tools are chosen, and what is sent keeps to the budget. The state of the graph stays whole.
 *
 * A thread is a conversation (`configurable.thread_id`); without one it is known by its first message. Give each agent middleware
 * of its own.
 *
 * Errors of a step: `BUDGET_EXCEEDED` when the last message of the user does not fit, `UNSUPPORTED` for a schema that cannot tell
 * its JSON Schema, as of Zod 3 without `toJsonSchema`, and those of `ContextManager.syncMessages`.
 */
export function contextWeaver(options: LangChainOptions): LangChainMiddleware {
  const { toJsonSchema, ...rest } = options ?? {};
  const conversations = new Conversations<Kept>(options && rest, () => ({
    translator: new LangChainMessages(),
    steps: 0,
  }));
  if (toJsonSchema !== undefined && typeof toJsonSchema !== "function")
    throw new ContextWeaverError("INVALID_INPUT", "expected a function", { path: "/toJsonSchema" });
  const answered = answering(conversations);
  const ofLoop = (offer: DescribedTool): LangChainAddedTool =>
    addedTool(offer, ({ args, id }, config) =>
      answered(config, (loop) => loop.answerAsync(offer.name, args, id) as Promise<string>),
    );
  const added: LangChainAddedTool[] = [
    ...addedOffers().map(ofLoop),
    // A call that stands for one of another tool is written as that before it is run.
    addedTool(callOffer(), ({ args, id }, config) =>
      answered(config, (loop) => {
        const { name } = callOffer();
        return loop.answer(name, args, id) ?? loop.demand(loop.resolve(name, args)?.name ?? name);
      }),
    ),
  ];
  return conversations.handle({
    [BRAND]: true,
    name: "contextweaver",
    tools: added,
    async wrapModelCall<Request extends LangChainModelRequest, Answer>(
      request: Request,
      handler: (request: Request) => Answer | Promise<Answer>,
    ) {
      const { messages, systemMessage, state, runtime } = request;
      return conversations.during(keyOf(runtime.configurable, state.messages), async ({ loop, kept }) => {
        const model = modelName(request.model);
        const own = new Set<object>(added);
        const tools = request.tools.filter((tool) => !own.has(tool));
        if (kept.tools === undefined || !isSameList(kept.tools, tools)) {
          loop.setTools(offered(tools, toJsonSchema));
          kept.tools = tools;
        }
        const read = kept.translator.read(messages, systemMessage);
        const { query, called } = lastTurn(read.messages);
        const reserved_tokens = formatTokens(request.responseFormat, toJsonSchema);
        const turn = {
          query,
          called,
          demanded: demanded(request.toolChoice),
          reserved_tokens,
          model,
          prices: pricesOf(model),
        };
        let sent: ReturnType<typeof written> = { messages: [] };
        const translated = ({ built }: { readonly built: { readonly messages: readonly AiSdkModelMessage[] } }) => {
          const lost: string[] = [];
          sent = written(built.messages, read, kept.translator, systemMessage, (what) => lost.push(what));
          return lost.map((what) => ({
            code: "OPAQUE_LEFT_OUT",
            message: `${what} of messages that are shown otherwise than they were is left out`,
            path: "/messages",
          }));
        };
        const { tools: names } = await loop.stepLater(FORMAT, read.messages, { ...turn, translated });
        const step = (kept.steps += 1);
        const offers = new Set(names);
        const answer = await handler({
          ...request,
          ...sent,
          tools: request.tools.filter((tool) => offers.has(nameOf(tool))),
          ...(request.toolChoice !== undefined && {
            toolChoice: choiceOf(
              request.toolChoice,
              demanded(request.toolChoice),
              new Set(tools.map(nameOf)),
              offers,
              "auto",
            ),
          }),
        });
        // Of two at once the loop knows the estimate for the later one alone.
        if (step === kept.steps) loop.observe(model, inputTokens(answer), usageDetails(answer));
        resolveCalls(answer, (args) => loop.resolve(callOffer().name, args));
        return answer;
      });
    },
  });
}

/**
 * Writes calls of `call_tool` in what a model answered as calls of the agent's own tools: the agent runs them as any other, and what
 * waits for a human's word sees which they are.
 */
function resolveCalls(answer: unknown, resolve: (args: unknown) => FrontCall | undefined): void {
  const {
    tool_calls: calls,
    content,
    messages,
  } = (answer ?? {}) as { tool_calls?: unknown; content?: unknown; readonly messages?: unknown };
  if (Array.isArray(messages)) for (const message of messages) resolveCalls(message, resolve);
  if (!Array.isArray(calls)) return;
  const meant = new Map<unknown, FrontCall>();
  const written = (calls as readonly Written[]).map((call) => {
    const real = call.name === callOffer().name ? resolve(call.args) : undefined;
    if (!real) return call;
    meant.set(call.id, real);
    return { ...call, name: real.name, args: real.arguments };
  });
  if (meant.size === 0) return;
  const message = answer as { tool_calls: unknown; content: unknown };
  message.tool_calls = written;
  if (!Array.isArray(content)) return;
  // Some providers have the call among the blocks, too.
  message.content = (content as readonly Written[]).map((block) => {
    const real = block.type === "tool_use" || block.type === "tool_call" ? meant.get(block.id) : undefined;
    return real ? { ...block, name: real.name, [block.type === "tool_use" ? "input" : "args"]: real.arguments } : block;
  });
}

/** A call as a message has it, among its calls or its blocks. */
interface Written {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly name?: unknown;
  readonly args?: unknown;
}

/** What is kept of a conversation beside its loop. */
interface Kept {
  readonly translator: LangChainMessages;
  /** How many steps were compiled. */
  steps: number;
  /** The tools that the loop knows. */
  tools?: readonly object[];
}

/** Answers calls of added tools in their conversations. One that is not in memory is read from the state. */
function answering(conversations: Conversations<Kept>) {
  return (
    { configurable, state }: LangChainToolConfig = {},
    answer: (loop: AgentLoop) => string | Promise<string>,
  ): Promise<string> => {
    const messages = messagesOf(state);
    const key = keyOf(configurable, messages);
    const isNew = conversations.get(key) === undefined;
    return conversations.during(key, ({ loop, kept }) => {
      if (isNew && messages.length > 0) loop.manager.syncMessages(kept.translator.read(messages).messages, FORMAT);
      return answer(loop);
    });
  };
}

/** The key of a conversation: its thread, with the agent's place among others in it, or its first message. */
function keyOf(configurable: Readonly<Record<string, unknown>> | undefined, messages: readonly object[]): string {
  const { thread_id: thread, checkpoint_ns: place } = configurable ?? {};
  // Its last part is of the node that runs, another one in each step.
  const above = typeof place === "string" ? place.split("|").slice(0, -1) : [];
  const [first] = messages as readonly { readonly id?: unknown }[];
  const isNamed = typeof thread === "string" || typeof thread === "number";
  return [isNamed ? String(thread) : `message:${String(first?.id)}`, ...above].join("|");
}

function messagesOf(state: unknown): readonly object[] {
  const { messages } = (state ?? {}) as { readonly messages?: unknown };
  return Array.isArray(messages) ? (messages as object[]) : [];
}

/** Parts what is to be sent into instructions and messages. */
function written(
  built: readonly AiSdkModelMessage[],
  read: ReadConversation,
  translator: LangChainMessages,
  system: object,
  lost: (what: string) => void,
): { readonly messages: object[]; readonly systemMessage?: object } {
  const end = built.findIndex(({ role }) => role !== "system");
  const above = built.slice(0, end === -1 ? built.length : end);
  const list = translator.write(built as Parameters<LangChainMessages["write"]>[0], read, lost);
  const [first] = list;
  // Providers take instructions at the beginning, in one message.
  const text = above.map(({ content }) => content as string).join("\n\n");
  const systemMessage = above.length === 1 ? first : translator.system(text);
  return {
    messages: list.slice(above.length),
    ...(systemMessage && (first !== system || above.length > 1) ? { systemMessage } : {}),
  };
}

/** Returns the name of the tool that is to be called in any case, in the form of OpenAI or of Anthropic. */
function demanded(choice: unknown): string[] {
  const { function: inner, name } = (choice ?? {}) as {
    readonly function?: { readonly name?: unknown };
    readonly name?: unknown;
  };
  return [inner?.name, name].filter((one) => typeof one === "string");
}

/** The name of a model, also of one that is configured, or bound to settings; without one, that of its class. */
function modelName(given: unknown): string {
  const {
    model,
    modelName: name,
    _defaultConfig: config,
    bound,
    getName,
  } = (given ?? {}) as {
    readonly model?: unknown;
    readonly modelName?: unknown;
    readonly _defaultConfig?: { readonly model?: unknown };
    readonly bound?: unknown;
    readonly getName?: () => unknown;
  };
  const known = [model, name, config?.model].find((one) => typeof one === "string" && one !== "");
  if (known === undefined && typeof bound === "object" && bound !== null) return modelName(bound);
  return String(known ?? getName?.call(given) ?? "model");
}

/** Reads what the provider had of a call in its cache. */
function usageDetails(answer: unknown): Readonly<Record<string, unknown>> {
  const { usage_metadata: usage, messages } = (answer ?? {}) as {
    readonly usage_metadata?: { readonly input_token_details?: { readonly cache_read?: unknown } };
    readonly messages?: unknown;
  };
  if (usage) return { input_tokens_details: { cached_tokens: usage.input_token_details?.cache_read } };
  const [first] = Array.isArray(messages) ? (messages as unknown[]) : [];
  return first === undefined ? {} : usageDetails(first);
}

/** Reads what a call cost; a structured answer has the message of the model among others. */
function inputTokens(answer: unknown): unknown {
  const { usage_metadata: usage, messages } = (answer ?? {}) as {
    readonly usage_metadata?: { readonly input_tokens?: unknown };
    readonly messages?: unknown;
  };
  if (usage) return usage.input_tokens;
  const [first] = Array.isArray(messages) ? (messages as unknown[]) : [];
  return first === undefined ? undefined : inputTokens(first);
}

/** Counts the tokens of what the answer is to look like, which goes to the provider as a schema or as a tool. */
function formatTokens(format: unknown, toJsonSchema: LangChainOptions["toJsonSchema"]): number {
  const formats = [format]
    .flat()
    .filter((one) => (typeof one === "object" && one !== null) || typeof one === "function") as {
    readonly tool?: object;
    readonly schema?: unknown;
  }[];
  return formats.reduce((sum, one) => {
    const catalog = catalogOf(
      [one.tool ?? { name: "answer", schema: one.schema ?? one }],
      toJsonSchema,
      "/responseFormat",
    );
    const [item] = catalog.items();
    catalog.free();
    return sum + countTokens(JSON.stringify(item && [item.name, item.description, item.args_schema]));
  }, 0);
}

function addedTool(
  { name, description, schema }: DescribedTool,
  invoke: LangChainAddedTool["invoke"],
): LangChainAddedTool {
  // By these the framework knows what it runs itself, and what has a schema.
  return Object.assign({ lc_runnable: true, lc_namespace: ["contextweaver"] } as object, {
    name,
    description,
    schema,
    invoke,
  });
}

function isSameList(one: readonly object[], other: readonly object[]): boolean {
  return one.length === other.length && one.every((tool, index) => tool === other[index]);
}

function nameOf(tool: object): string {
  const {
    name,
    type,
    function: inner,
  } = tool as { readonly name?: unknown; readonly type?: unknown; readonly function?: { readonly name?: unknown } };
  return String(name ?? inner?.name ?? type);
}

/** Reads what tools say of themselves; those that the provider runs have no schema. */
function offered(tools: readonly object[], toJsonSchema: LangChainOptions["toJsonSchema"]): OfferedTool[] {
  const catalog = catalogOf(tools, toJsonSchema, "/tools");
  const known = new Map(catalog.items().map((item) => [item.name, item]));
  catalog.free();
  return tools.map((tool) => {
    const name = nameOf(tool);
    const item = known.get(name);
    return { name, description: item?.description, schema: item?.args_schema };
  });
}

function catalogOf(tools: readonly object[], toJsonSchema: LangChainOptions["toJsonSchema"], at: string): Catalog {
  return catalogAt(at, () =>
    Catalog.fromLangChain(tools, { on_invalid: "raise", ...(toJsonSchema && { toJsonSchema }) }),
  );
}
