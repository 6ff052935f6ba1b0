// `contextweaver/langchain`: middleware for the agents of LangChain 1, `createAgent`. It imports no LangChain: tools are records
// that its loop takes for its own, and messages are made by the classes of those in the request.
import { AgentLoop, FIND_TOOLS, drilldownOffer } from "./adapters/agent-loop.js";
import type { AgentLoopOptions, AgentLoopStep, DescribedTool, DrilldownInput, FindToolsInput, OfferedTool } from "./adapters/agent-loop.js";
import { LangChainMessages } from "./adapters/langchain-messages.js";
import type { ReadConversation } from "./adapters/langchain-messages.js";
import { lastTurn } from "./adapters/last-turn.js";
import { Catalog, ContextWeaverError, countTokens } from "contextweaver";
import type { AiSdkModelMessage, ContextManager, ContextManagerOptions, JsonObject, SchemaConverters } from "contextweaver";

export type { AgentLoopOptions, AgentLoopStep };

/** How the loops of an agent are served. */
export interface LangChainOptions extends Omit<AgentLoopOptions, "manager" | "onStep">, Pick<SchemaConverters, "toJsonSchema"> {
  /**
   * How to make the log of a conversation, or a function that returns the log of the one with this key, the thread's id where there
   * is one. Default: a new one with default options. Whoever returns one frees it.
   */
  readonly manager?: ContextManagerOptions | ((conversation: string) => ContextManager);
  /**
   * Conversations whose logs are kept in memory; the one that was idle longest gives way. What the state of the thread still has
   * is read again when it goes on. Default: 100.
   */
  readonly max_conversations?: number;
  /** Is told of every step what was sent and what was left out, and the key of the conversation. What it throws ends the step. */
  readonly onStep?: (step: AgentLoopStep, conversation: string) => void;
}

/** A tool that the middleware adds. An alias, as only these are records to the compiler. */
export type LangChainAddedTool = {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
  readonly invoke: (call: LangChainToolCall, config?: LangChainToolConfig) => Promise<string>;
};

/** A call of a tool. */
export interface LangChainToolCall {
  readonly args: Readonly<Record<string, unknown>>;
}

/** What the framework tells a tool, as far as it is needed. */
export interface LangChainToolConfig {
  readonly configurable?: Readonly<Record<string, unknown>>;
  readonly state?: unknown;
}

/** What the framework tells `wrapModelCall`, as far as it is needed. */
export interface LangChainModelRequest {
  readonly messages: readonly object[];
  readonly systemMessage: object;
  readonly tools: readonly object[];
  readonly toolChoice?: unknown;
  readonly responseFormat?: unknown;
  readonly state: { readonly messages: readonly object[] };
  readonly runtime: { readonly configurable?: Readonly<Record<string, unknown>> };
}

/** What `createAgent` takes as `middleware`. */
export interface LangChainMiddleware {
  name: string;
  /** The two of the loop: `drilldown` and `find_tools`. */
  tools: LangChainAddedTool[];
  wrapModelCall: <Request extends LangChainModelRequest, Answer>(request: Request, handler: (request: Request) => Answer | Promise<Answer>) => Promise<Answer>;
  /** The log of a conversation, by the id of its thread: all that was ever said and every byte of every result. None where it is not in memory. */
  readonly manager: (conversation: string) => ContextManager | undefined;
  /** Gives the memory back. */
  readonly free: () => void;
}

/** By this the framework marks middleware. */
const BRAND = /* @__PURE__ */ Symbol.for("AgentMiddleware");
const MAX_CONVERSATIONS = 100;
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
  const conversations = new Conversations(options);
  const { toJsonSchema } = options;
  const added: LangChainAddedTool[] = [
    addedTool(drilldownOffer(), async ({ args }, config) => conversations.ofTool(config).loop.drilldown(args as unknown as DrilldownInput)),
    addedTool(FIND_TOOLS, async ({ args }, config) => conversations.ofTool(config).loop.findTools(args as unknown as FindToolsInput)),
  ];
  return Object.assign({ [BRAND]: true } as object, {
    name: "contextweaver",
    tools: added,
    async wrapModelCall<Request extends LangChainModelRequest, Answer>(request: Request, handler: (request: Request) => Answer | Promise<Answer>) {
      const { messages, systemMessage, state, runtime } = request;
      const conversation = conversations.of(runtime.configurable, state.messages);
      const { loop } = conversation;
      const own = new Set<object>(added);
      const tools = request.tools.filter((tool) => !own.has(tool));
      if (conversation.tools === undefined || !isSameList(conversation.tools, tools)) {
        loop.setTools(offered(tools, toJsonSchema));
        conversation.tools = tools;
      }
      const read = conversation.translator.read(messages, systemMessage);
      const { query, called } = lastTurn(read.messages);
      const reserved_tokens = formatTokens(request.responseFormat, toJsonSchema);
      const { built, tools: names } = loop.step(FORMAT, read.messages, { query, called: [...called, ...demanded(request.toolChoice)], reserved_tokens });
      const offers = new Set(names);
      return handler({
        ...request,
        ...written(built.messages, read, conversation.translator, systemMessage),
        tools: request.tools.filter((tool) => offers.has(nameOf(tool))),
      });
    },
    manager: (conversation: string) => conversations.get(conversation)?.loop.manager,
    free: () => conversations.free(),
  });
}

/** A conversation that is served. */
interface Conversation {
  readonly loop: AgentLoop;
  readonly translator: LangChainMessages;
  /** The tools that the loop knows. */
  tools?: readonly object[];
}

/** The conversations of an agent, those that went on last behind the others. */
class Conversations {
  readonly #options: Omit<AgentLoopOptions, "manager" | "onStep">;
  readonly #given: Pick<LangChainOptions, "manager" | "onStep">;
  readonly #most: number;
  readonly #known = new Map<string, Conversation>();

  constructor(given: LangChainOptions) {
    const refuse = (path: string | undefined, expected: string, hint?: string): never => {
      throw new ContextWeaverError("INVALID_INPUT", `expected ${expected}`, { path, hint });
    };
    if (typeof given !== "object" || (given as unknown) === null) refuse(undefined, "options", "{ budget_tokens: 16000 }");
    const { manager, onStep, max_conversations = MAX_CONVERSATIONS, toJsonSchema, ...options } = given;
    [this.#options, this.#given, this.#most] = [options, { ...(manager && { manager }), ...(onStep && { onStep }) }, max_conversations];
    if (!Number.isInteger(max_conversations) || max_conversations < 1) refuse("/max_conversations", "a whole number of conversations");
    if (toJsonSchema !== undefined && typeof toJsonSchema !== "function") refuse("/toJsonSchema", "a function");
    if (onStep !== undefined && typeof onStep !== "function") refuse("/onStep", "a function");
    if (typeof manager === "object" && "syncMessages" in manager) refuse("/manager", "options or a function", "a function that returns the one of each conversation");
    // Bad options are told when they are given, not when a conversation begins.
    new AgentLoop({ ...options, ...(typeof manager === "object" && { manager }) }).free();
  }

  /** Finds the conversation of a run, or begins one. */
  of(configurable: Readonly<Record<string, unknown>> | undefined, messages: readonly object[]): Conversation {
    const key = keyOf(configurable, messages);
    const conversation = this.#known.get(key) ?? this.#begun(key);
    this.#known.delete(key);
    this.#known.set(key, conversation);
    for (const [oldest, { loop }] of this.#known) {
      if (this.#known.size <= this.#most) break;
      this.#known.delete(oldest);
      loop.free();
    }
    return conversation;
  }

  /** Finds the conversation in which a tool was called. One that is not in memory is read from the state. */
  ofTool({ configurable, state }: LangChainToolConfig = {}): Conversation {
    const messages = messagesOf(state);
    const isKnown = this.#known.has(keyOf(configurable, messages));
    const conversation = this.of(configurable, messages);
    const [first] = messages;
    if (!isKnown && first) conversation.loop.manager.syncMessages(conversation.translator.read(messages).messages, FORMAT);
    return conversation;
  }

  get(key: string): Conversation | undefined {
    return this.#known.get(key);
  }

  free(): void {
    for (const { loop } of this.#known.values()) loop.free();
    this.#known.clear();
  }

  #begun(key: string): Conversation {
    const { manager: given, onStep } = this.#given;
    const manager = typeof given === "function" ? given(key) : given;
    const told = onStep && ((step: AgentLoopStep): void => onStep(step, key));
    return { loop: new AgentLoop({ ...this.#options, ...(manager && { manager }), ...(told && { onStep: told }) }), translator: new LangChainMessages() };
  }
}

/** The key of a conversation: its thread, with the agent's place among others in it, or its first message. */
function keyOf(configurable: Readonly<Record<string, unknown>> | undefined, messages: readonly object[]): string {
  const { thread_id: thread, checkpoint_ns: place } = configurable ?? {};
  // Its last part is of the node that runs, another one in each step.
  const above = typeof place === "string" ? place.split("|").slice(0, -1) : [];
  const [first] = messages as readonly { readonly id?: unknown }[];
  return [typeof thread === "string" ? thread : `message:${String(first?.id)}`, ...above].join("|");
}

function messagesOf(state: unknown): readonly object[] {
  const { messages } = (state ?? {}) as { readonly messages?: unknown };
  return Array.isArray(messages) ? (messages as object[]) : [];
}

/** Parts what is to be sent into instructions and messages. */
function written(built: readonly AiSdkModelMessage[], read: ReadConversation, translator: LangChainMessages, system: object) {
  const end = built.findIndex(({ role }) => role !== "system");
  const above = built.slice(0, end === -1 ? built.length : end);
  const list = translator.write(built as Parameters<LangChainMessages["write"]>[0], read);
  const [first] = list;
  // Providers take instructions at the beginning, in one message.
  const text = above.map(({ content }) => content as string).join("\n\n");
  const systemMessage = above.length === 1 ? first : translator.system(text);
  return { messages: list.slice(above.length), ...(first !== system || above.length > 1 ? { systemMessage } : {}) };
}

/** Returns the name of the tool that is to be called in any case, in the form of OpenAI or of Anthropic. */
function demanded(choice: unknown): string[] {
  const { function: inner, name } = (choice ?? {}) as { readonly function?: { readonly name?: unknown }; readonly name?: unknown };
  return [inner?.name, name].filter((one) => typeof one === "string");
}

/** Counts the tokens of what the answer is to look like, which goes to the provider as a schema or as a tool. */
function formatTokens(format: unknown, toJsonSchema: LangChainOptions["toJsonSchema"]): number {
  const formats = [format].flat().filter((one) => (typeof one === "object" && one !== null) || typeof one === "function") as { readonly tool?: object; readonly schema?: unknown }[];
  return formats.reduce((sum, one) => {
    const catalog = catalogOf([one.tool ?? { name: "answer", schema: one.schema ?? one }], toJsonSchema, "/responseFormat");
    const [item] = catalog.items();
    catalog.free();
    return sum + countTokens(JSON.stringify(item && [item.name, item.description, item.args_schema]));
  }, 0);
}

function addedTool({ name, description, schema }: DescribedTool, invoke: LangChainAddedTool["invoke"]): LangChainAddedTool {
  // By these the framework knows what it runs itself, and what has a schema.
  return Object.assign({ lc_runnable: true, lc_namespace: ["contextweaver"] } as object, { name, description, schema, invoke });
}

function isSameList(one: readonly object[], other: readonly object[]): boolean {
  return one.length === other.length && one.every((tool, index) => tool === other[index]);
}

function nameOf(tool: object): string {
  const { name, type, function: inner } = tool as { readonly name?: unknown; readonly type?: unknown; readonly function?: { readonly name?: unknown } };
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
  try {
    return Catalog.fromLangChain(tools, { on_invalid: "raise", ...(toJsonSchema && { toJsonSchema }) });
  } catch (error) {
    if (!ContextWeaverError.is(error)) throw error;
    const { code, message, path = "", hint, details } = error;
    throw new ContextWeaverError(code, message, { path: `${at}${path}`, hint, details, cause: error });
  }
}
