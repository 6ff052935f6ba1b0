// `contextweaver/openai`: params of OpenAI's SDK, of chat completions and of responses, fitted before they are sent, in a loop of
// your own or by `runTools`. It imports no SDK.
import {
  AgentLoop,
  FIND_TOOLS,
  addedOffers,
  callOffer,
  framedTokens,
  listOf,
  pricesOf,
  usageOf,
} from "./adapters/agent-loop.js";
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
import type { CacheKeyOption } from "./adapters/cache-key.js";
import { isMarking } from "./adapters/cache-plan.js";
import { ChatMarks } from "./adapters/chat-marks.js";
import { choiceOf } from "./adapters/forced-choice.js";
import { handleOf } from "./adapters/handle.js";
import type { ContextWeaverHandle } from "./adapters/handle.js";
import { CHAT_MARKS, takeMarks } from "./adapters/moving-marks.js";
import { FoundTools, MOST_FOUND, foundText } from "./adapters/tool-search.js";
import { lastTurn, namesOf } from "./adapters/openai-turn.js";
import { wellFormed } from "./boundary/repairs.js";
import { ContextWeaverError } from "contextweaver";
import type { JsonObject } from "contextweaver";

export type { AgentLoopOptions, AgentLoopStep, ContextWeaverHandle, Debug, LoopCosts, LeftOut, LoopReport, StepReport };

/** A tool that is added, as `runTools` takes it. */
export interface OpenAiAddedTool {
  type: "function";
  function: {
    name: string;
    description: string;
    parameters: Record<string, unknown>;
    parse: (input: string) => object;
    function: (input: object) => Promise<string>;
  };
}

/** How calls of the model are fitted. */
export interface OpenAiOptions<Tool extends object> extends AgentLoopOptions {
  /**
   * All tools there are, as chat completions, responses or `runTools` take them: thousands cost nothing until a query needs them.
   * Those that are offered are loaded: `defer_loading` of yours is not sent.
   */
  readonly tools: readonly Tool[];
  /**
   * Sends the functions of `always` alone and `tool_search` in place of `find_tools`, and answers it by the definitions that it found,
   * at most 5: the list of tools is the same in every call, so that the provider's cache of the prompt holds, and a tool costs its
   * definition where it was found. With no more tools than `max_tools` all are sent. For responses. Default: false.
   */
  readonly tool_search?: boolean;
  /**
   * `prompt_cache_key` of the calls, by which OpenAI sends those of a conversation to where its prompt is cached: a text, or `true` for
   * one that is made of the instructions and the first message. A key in the params stays. Default: `true` for models of OpenAI, by
   * their names; other providers with the same API may refuse it.
   */
  readonly cache_key?: boolean | string;
  /**
   * Marks chat completions for models of Anthropic, by their names, with `cache_control`, as OpenRouter, LiteLLM and others take it, so
   * that each call reads from that provider's cache what those before it have written. Your own marks stay and count. Default: true.
   */
  readonly cache?: boolean;
}

/** What either takes of tools. */
interface WithTools {
  /** None, or all of them. */
  readonly tools?: unknown;
  readonly tool_choice?: unknown;
}

/** What `chat.completions.create` takes, as far as it is fitted. */
export interface OpenAiChatParams extends WithTools {
  /** The whole conversation. */
  readonly messages: readonly object[];
}

/** What `responses.create` takes, as far as it is fitted. */
export interface OpenAiResponsesParams extends WithTools {
  /** The whole conversation. */
  readonly input?: string | readonly object[];
  readonly instructions?: string | null;
}

/** A call in a message of chat completions. */
export interface OpenAiChatCall {
  readonly type: "function" | "custom";
  readonly id: string;
  readonly function?: { readonly name: string; readonly arguments: string };
}

/** An item of the output of responses. */
export interface OpenAiResponsesCall {
  readonly type: string;
  readonly call_id?: unknown;
  readonly name?: unknown;
  readonly arguments?: unknown;
}

/** The answer to a call of chat completions. */
export type OpenAiToolMessage = {
  role: "tool";
  tool_call_id: string;
  content: string;
};

/** The answer to a call of responses. */
export type OpenAiCallOutput = {
  type: "function_call_output";
  call_id: string;
  output: string;
};

/** A function that a search has found. */
export type OpenAiFoundTool = {
  type: "function";
  name: string;
  description?: string | null;
  parameters: { [key: string]: unknown } | null;
  strict: boolean | null;
  defer_loading: true;
};

/** The answer to a search for tools. */
export type OpenAiToolSearchOutput = {
  type: "tool_search_output";
  call_id: string;
  execution: "client";
  status: "completed";
  tools: OpenAiFoundTool[];
};

/** An answer of the model, as far as it says what it cost, in tokens of the model: of chat completions or of responses. */
export interface OpenAiAnswer {
  readonly usage?: { readonly prompt_tokens?: number; readonly input_tokens?: number } | null;
}

/** A client of the SDK, as far as it is served. */
export interface OpenAiClient {
  readonly chat: { readonly completions: object };
  readonly responses: object;
  withOptions(options: object): unknown;
}

/** What fits the calls of one conversation. */
export interface OpenAiContextWeaver<Tool extends object> extends ContextWeaverHandle {
  /** Yours and those that are added, for `runTools`. */
  readonly tools: (Tool | OpenAiAddedTool)[];
  /**
   * Fits params that hold the whole conversation: `messages` or `input`, and `tools`, are compiled, the rest stays.
   *
   * Errors: `BUDGET_EXCEEDED` when the last message of the user does not fit, `UNSUPPORTED` for a conversation that the provider
   * holds, and those of `ContextManager.syncMessages`.
   */
  fit<Params extends OpenAiChatParams | OpenAiResponsesParams>(params: Params): Params;
  /** Answers a call of one of the tools that are added, of what is in memory; undefined for every other call or item, and for calls that are yours to run. */
  answer(call: OpenAiChatCall): OpenAiToolMessage | undefined;
  answer(item: OpenAiResponsesCall): OpenAiCallOutput | OpenAiToolSearchOutput | undefined;
  /** As `answer`, of a result too that was evicted from memory: the storage of the manager, its `get_blob`, is asked for it. */
  answerAsync(call: OpenAiChatCall): Promise<OpenAiToolMessage | undefined>;
  answerAsync(item: OpenAiResponsesCall): Promise<OpenAiCallOutput | OpenAiToolSearchOutput | undefined>;
  /**
   * The call that a call stands for: of `call_tool`, by which a model runs tools that it was not offered, the call of your tool, with the
   * same id. Every other call or item is returned as it is. What `call_tool` says wrongly, `answer` answers.
   */
  resolve<Call extends OpenAiChatCall | OpenAiResponsesCall>(call: Call): Call;
  /**
   * Takes the answer to the params that were fitted last, so that the next calls keep to the budget in tokens of their model.
   * What cannot be a count of what was sent is passed over. `calibrate: false` of the manager's options leaves all at the estimate.
   *
   * Errors: `INVALID_INPUT` for what is no answer.
   */
  observe(answer: OpenAiAnswer): void;
  /** A copy of a client, each of whose calls of a model is fitted and observed: for what calls it for you, such as `runTools`. */
  serve<Client extends OpenAiClient>(client: Client): Client;
}

/** Serves one conversation. Take another one for another conversation. */
export function contextWeaver<Tool extends object>(options: OpenAiOptions<Tool>): OpenAiContextWeaver<Tool> {
  const { tools, tool_search: searches = false, cache_key: given, cache, ...rest } = options ?? {};
  if (!Array.isArray(tools)) {
    const init = { path: "/tools", hint: "tools as the SDK takes them; [] for none" };
    throw new ContextWeaverError(
      tools === undefined ? "MISSING_FIELD" : "INVALID_INPUT",
      "expected a list of tools",
      init,
    );
  }
  if (typeof searches !== "boolean")
    throw new ContextWeaverError("INVALID_INPUT", "expected true or false", { path: "/tool_search" });
  const cache_key = checkedCacheKey(given);
  const marks = isMarking(cache) ? new ChatMarks() : undefined;
  const loop = new AgentLoop(rest, ["tools", "tool_search", "cache_key", "cache"]);
  const fitting = new Fitting(loop, tools, { searches, cache_key, marks });
  return {
    tools: [...(tools as Tool[]), ...addedOffers().map((offer) => runnable(offer, loop)), calling(tools, loop)],
    ...handleOf(loop),
    fit: (params) => fitting.fit(params),
    resolve: (call) => resolved(loop, call),
    answer: ((call: OpenAiChatCall | OpenAiResponsesCall) =>
      fitting.search(call) ?? answer(loop, call)) as OpenAiContextWeaver<Tool>["answer"],
    answerAsync: (async (call: OpenAiChatCall | OpenAiResponsesCall) =>
      fitting.search(call) ?? answerAsync(loop, call)) as OpenAiContextWeaver<Tool>["answerAsync"],
    observe: (answer) => fitting.observe(answer),
    serve: <Client extends OpenAiClient>(client: Client) => served(client, fitting),
  };
}

/** An object of the SDK. */
type Fields = Readonly<Record<string, unknown>>;

/** How the two kinds of calls differ. */
interface Api {
  readonly format: "openai-chat" | "openai-responses";
  /** Where the conversation stands in the params. */
  readonly field: "messages" | "input";
  /** Writes a function that a model may call. */
  readonly toolOf: (definition: Fields) => Fields;
}

const CHAT: Api = {
  format: "openai-chat",
  field: "messages",
  toolOf: (definition) => ({ type: "function", function: definition }),
};

const RESPONSES: Api = {
  format: "openai-responses",
  field: "input",
  // What is not said to be strict is strict there, and refused when it has optional arguments.
  toolOf: (definition) => ({ type: "function", strict: false, ...definition }),
};

/** What is known of a tool. */
interface KnownTool extends OfferedTool {
  /** Of a function what both kinds of calls say of it, of another what it is. */
  readonly definition: Fields;
  readonly isFunction: boolean;
  /** A function as it was given, with what the SDK parses calls by, and the kind of calls that takes it so. */
  readonly given?: { readonly tool: object; readonly api: Api };
}

interface FittingOptions {
  readonly searches: boolean;
  readonly cache_key: CacheKeyOption | undefined;
  readonly marks: ChatMarks | undefined;
}

class Fitting {
  readonly #loop: AgentLoop;
  readonly #known: ReadonlyMap<string, KnownTool>;
  /** What the provider's search has loaded, where it is used, and the tools that are sent in any case. */
  readonly #found: FoundTools | undefined;
  readonly #standing: ReadonlySet<string>;
  readonly #key: CacheKey;
  readonly #marks: ChatMarks | undefined;
  /** The model that was asked last, by the name that the caller knows it by: its answers may tell another. */
  #model = "model";
  /** Calls that were fitted. */
  calls = 0;

  constructor(loop: AgentLoop, tools: readonly object[], { searches, cache_key, marks }: FittingOptions) {
    const known = tools.map(knownTool);
    loop.setTools(known);
    const added = [...addedOffers(), callOffer()].map(
      (tool): KnownTool => ({ ...tool, definition: definitionOf(tool), isFunction: true }),
    );
    this.#loop = loop;
    this.#known = new Map([...known, ...added].map((tool) => [tool.name, tool]));
    this.#standing = loop.standing;
    const deferred = known.map(({ name }) => name).filter((name) => !this.#standing.has(name));
    this.#key = new CacheKey(cache_key);
    this.#marks = marks;
    this.#found = searches && deferred.length > 0 ? new FoundTools(loop, new Set(deferred)) : undefined;
  }

  fit<Params extends object>(params: Params): Params {
    const { tools: all, tool_choice: choice, parallel_tool_calls: parallel, ...rest } = params as Fields;
    const api = rest["messages"] === undefined ? RESPONSES : CHAT;
    const held = ["previous_response_id", "conversation"].find((field) => rest[field] != null);
    if (api === RESPONSES && held !== undefined) {
      const init = { path: `/${held}`, hint: "send the whole conversation as `input` each time" };
      throw new ContextWeaverError(
        "UNSUPPORTED",
        "the provider holds the conversation, of which nothing can be left out",
        init,
      );
    }
    if (all !== undefined) this.#loop.checkTools(listOf(all, "/tools").map((tool, at) => knownTool(tool, at).name));
    if (api === CHAT && this.#found) {
      throw new ContextWeaverError("UNSUPPORTED", "chat completions have no tool_search", {
        path: "/messages",
        hint: "leave tool_search out: find_tools is added",
      });
    }
    const { messages: whole, found } = withoutSearches(conversationOf(rest[api.field], api));
    const { messages, putBack } = takeMarks(whole, CHAT_MARKS);
    const { query, called } = lastTurn(messages);
    const given = api === RESPONSES ? rest["instructions"] : undefined;
    const instructions = typeof given === "string" ? wellFormed(given) : given;
    const reserved_tokens = framedTokens(typeof instructions === "string" ? [instructions] : []);
    this.#model = String(rest["model"] ?? "model");
    this.calls += 1;
    const forced = namesOf(choice).filter((name) => this.#known.has(name));
    const chosen = this.#found?.choose(found, forced, this.#model);
    const turn = {
      query,
      called,
      demanded: forced,
      reserved_tokens,
      before: typeof instructions === "string" ? instructions : "",
      model: this.#model,
      prices: pricesOf(this.#model),
      ...(chosen && { chosen }),
    };
    const { built, tools: names } = this.#loop.step(api.format, messages, turn);
    const isSent = (name: string): boolean => !this.#found || this.#standing.has(name) || forced.includes(name);
    const tools = names.filter(isSent).map((name) => this.#sent(name, api));
    const offered = new Set(names);
    const tool_choice =
      allowedOf(choice, (name) => this.#known.has(name) && !offered.has(name)) ??
      choiceOf(choice, forced, this.#known, offered, "auto");
    const sent = putBack(this.#found ? this.#withSearches(built.messages, this.#found) : built.messages);
    const key = this.#key.of(isOpenAiModel(this.#model), () => [instructions ?? null, ...beginning(messages)]);
    return {
      ...(key !== undefined && { prompt_cache_key: key }),
      // A key of the caller's stands.
      ...rest,
      ...(instructions !== given && { instructions }),
      [api.field]: api === CHAT ? this.#marked(sent, tools, params as Fields) : sent,
      // What is said of tools where there are none is refused.
      ...(tools.length > 0 && {
        tools,
        ...(choice !== undefined && { tool_choice }),
        ...(parallel !== undefined && { parallel_tool_calls: parallel }),
      }),
    } as Params;
  }

  /** Marks a prompt for the cache of Anthropic where a model of theirs is asked. */
  #marked(messages: readonly object[], tools: readonly object[], params: Fields): readonly object[] {
    if (!this.#marks || pricesOf(this.#model) !== "anthropic") return messages;
    return this.#marks.mark({ messages, tools }, params);
  }

  /** Answers a search of the provider's; undefined for every other call. */
  search(call: OpenAiChatCall | OpenAiResponsesCall): OpenAiToolSearchOutput | undefined {
    const { type, call_id: id, arguments: given } = call as OpenAiResponsesCall;
    if (type !== "tool_search_call" || typeof id !== "string") return undefined;
    const { names } = this.#loop.search(given, id, MOST_FOUND, foundText);
    return this.#output(id, names);
  }

  /** Writes a tool as it is sent. */
  #sent(name: string, api: Api): object {
    const { isFunction, definition, given, description, schema } = this.#known.get(name) as KnownTool;
    if (this.#found && name === FIND_TOOLS.name)
      return { type: "tool_search", execution: "client", description, parameters: schema };
    if (given?.api === api) return given.tool;
    return isFunction ? api.toolOf(definition) : definition;
  }

  #output(id: string, names: readonly string[]): OpenAiToolSearchOutput {
    const tools = names.map((name) => ({
      ...RESPONSES.toolOf((this.#known.get(name) as KnownTool).definition),
      defer_loading: true,
    }));
    return {
      type: "tool_search_output",
      call_id: id,
      execution: "client",
      status: "completed",
      tools: tools as unknown as OpenAiFoundTool[],
    };
  }

  /** Writes searches as the provider has them, with the definitions for which there is room. */
  #withSearches(items: readonly object[], found: FoundTools): readonly object[] {
    const list = items as readonly Fields[];
    const isSearch = ({ type, name }: Fields): boolean => type === "function_call" && name === FIND_TOOLS.name;
    const searches = new Set(list.filter(isSearch).map(({ call_id: id }) => String(id)));
    const outputs = list.filter(({ type, call_id: id }) => type === "function_call_output" && searches.has(String(id)));
    const names = found.sent(new Map(outputs.map(({ call_id: id, output }) => [String(id), output])));
    return list.map((item) => {
      const { name: _, call_id: call, arguments: given, ...rest } = item;
      if (isSearch(item))
        return {
          ...rest,
          type: "tool_search_call",
          call_id: call,
          execution: "client",
          arguments: dataOf(String(given)),
          status: "completed",
        };
      return outputs.includes(item) ? this.#output(String(call), names.get(String(call)) ?? []) : item;
    });
  }

  observe(answer: unknown): void {
    const usage = usageOf(answer);
    const { prompt_tokens: chat, input_tokens: tokens = chat } = usage;
    this.#loop.observe(this.#model, tokens, usage);
  }
}

/**
 * A choice among the tools that are allowed, without those for which there was no room, as a provider refuses their names; undefined for
 * every other choice. With none of them left it is `none`: the others are forbidden.
 */
function allowedOf(choice: unknown, isLeftOut: (name: string) => boolean): unknown {
  const { type, ...said } = (choice ?? {}) as Fields;
  if (type !== "allowed_tools") return undefined;
  // Chat completions have one object more around the list than responses.
  const inside = said["allowed_tools"] as Fields | undefined;
  const { tools } = inside ?? said;
  if (!Array.isArray(tools)) return choice;
  const left = tools.filter((tool) => !namesOf(tool).some(isLeftOut));
  if (left.length === 0) return "none";
  return inside ? { type, ...said, allowed_tools: { ...inside, tools: left } } : { type, ...said, tools: left };
}

/** Reads the conversation of params. */
function conversationOf(given: unknown, { field }: Api): readonly object[] {
  if (field === "input" && typeof given === "string") return [{ role: "user", content: given }];
  if (given === undefined)
    throw new ContextWeaverError("MISSING_FIELD", "expected `messages` of chat completions or `input` of responses");
  return listOf(given, `/${field}`);
}

/** Reads searches of the provider's as calls of a function with a text as result, which the log can hold and keep together. */
function withoutSearches(items: readonly object[]): {
  readonly messages: readonly object[];
  readonly found: ReadonlyMap<string, readonly string[]>;
} {
  const found = new Map<string, readonly string[]>();
  const messages = items.map((item) => {
    const { type, id: own, execution, call_id: id, arguments: given, tools } = item as Fields;
    // One that the provider itself has run is a matter of its own.
    if (execution !== "client" || typeof id !== "string") return item;
    if (type === "tool_search_call") {
      const words = typeof given === "string" ? given : JSON.stringify(given ?? {});
      return {
        type: "function_call",
        ...(own != null && { id: own }),
        call_id: id,
        name: FIND_TOOLS.name,
        arguments: words,
      };
    }
    if (type !== "tool_search_output") return item;
    const names = ((tools ?? []) as Fields[]).map(({ name }) => String(name));
    found.set(id, names);
    return { type: "function_call_output", call_id: id, output: names.length > 0 ? foundText(names) : "No tool fits." };
  });
  return { messages, found };
}

/** Reads arguments, which a model wrote; what is no JSON stays a text. */
function dataOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Reads a tool of either kind of calls. */
function knownTool(tool: object, at: number): KnownTool {
  const {
    type,
    function: inside,
    custom,
    ...beside
  } = (tool ?? {}) as Fields & { readonly function?: unknown; readonly custom?: Fields };
  const isFunction = type === "function";
  const isNested = typeof inside === "object" && inside !== null;
  const said = isFunction && isNested ? (inside as Fields) : beside;
  const { defer_loading: deferred, ...sent } = said;
  const implementation = sent["function"] as { readonly name?: unknown } | undefined;
  const name = said["name"] ?? implementation?.name ?? custom?.["name"] ?? said["server_label"] ?? type;
  if (type === "tool_search") {
    const init = {
      path: `/tools/${at}`,
      hint: "leave it out: find_tools is added, and finds among the tools of contextWeaver",
    };
    throw new ContextWeaverError(
      "UNSUPPORTED",
      "the provider's search finds among all tools, of which it is sent some",
      init,
    );
  }
  if (typeof name !== "string" || name === "")
    throw new ContextWeaverError("INVALID_INPUT", "expected a tool with a name", { path: `/tools/${at}` });
  const { description, parameters } = sent;
  // What runs a tool stays here.
  const definition = isFunction
    ? Object.fromEntries([["name", name], ...Object.entries(sent).filter(([, value]) => typeof value !== "function")])
    : (tool as Fields);
  return {
    name,
    description: typeof description === "string" ? description : undefined,
    // One that is no function is not a matter of a schema, and is always there.
    schema: isFunction ? ((parameters ?? {}) as JsonObject) : undefined,
    definition,
    isFunction,
    ...(isFunction &&
      deferred === undefined &&
      said["name"] !== undefined && { given: { tool, api: isNested ? CHAT : RESPONSES } }),
  };
}

function definitionOf({ name, description, schema }: DescribedTool): Fields {
  return { name, description, parameters: schema };
}

/** Answers a call of an added tool, in the form of the call. */
function answer(
  loop: AgentLoop,
  call: OpenAiChatCall | OpenAiResponsesCall,
): OpenAiToolMessage | OpenAiCallOutput | undefined {
  const called = calledBy(call);
  return called && written(called, loop.answer(called.name, called.given, called.id));
}

/** Does the same where it may take time. */
async function answerAsync(
  loop: AgentLoop,
  call: OpenAiChatCall | OpenAiResponsesCall,
): Promise<OpenAiToolMessage | OpenAiCallOutput | undefined> {
  const called = calledBy(call);
  return called && written(called, await loop.answerAsync(called.name, called.given, called.id));
}

/** A call of a function, of either API. */
interface Called {
  readonly isChat: boolean;
  readonly id: string;
  readonly name: string;
  readonly given: unknown;
}

function calledBy(call: OpenAiChatCall | OpenAiResponsesCall): Called | undefined {
  if (call.type === "function") {
    const { id, function: called } = call as OpenAiChatCall;
    return called && { isChat: true, id, name: called.name, given: called.arguments };
  }
  const { type, call_id: id, name, arguments: given } = call as OpenAiResponsesCall;
  return type === "function_call" ? { isChat: false, id: String(id), name: String(name), given } : undefined;
}

function written({ isChat, id }: Called, output: string | undefined): OpenAiToolMessage | OpenAiCallOutput | undefined {
  if (output === undefined) return undefined;
  return isChat
    ? { role: "tool", tool_call_id: id, content: output }
    : { type: "function_call_output", call_id: id, output };
}

/** Writes the call that a call of `call_tool` stands for, in the form of the call. */
function resolved<Call extends OpenAiChatCall | OpenAiResponsesCall>(loop: AgentLoop, call: Call): Call {
  const called = calledBy(call);
  const real = called && loop.resolveText(called.name, called.given);
  if (!real) return call;
  return called.isChat
    ? { ...call, function: { ...(call as OpenAiChatCall).function, ...real } }
    : { ...call, ...real };
}

/** What `runTools` runs a tool by. */
interface RunnableFunction {
  readonly function?: ((given: unknown, ...more: readonly unknown[]) => unknown) | undefined;
  readonly parse?: ((given: string) => unknown) | undefined;
}

/** A tool as the SDK runs it: those of its `zodFunction` have what runs them beside the definition. */
interface RunnableTool {
  readonly function?: RunnableFunction;
  readonly $callback?: RunnableFunction["function"];
  readonly $parseRaw?: RunnableFunction["parse"];
}

function runnerOf(tool: RunnableTool): RunnableFunction | undefined {
  const { $callback, $parseRaw, function: runner } = tool;
  return $callback ? { function: $callback, parse: $parseRaw } : runner;
}

/** The tool that runs others, for `runTools`. */
function calling(tools: readonly object[], loop: AgentLoop): OpenAiAddedTool {
  const { name, description, schema } = callOffer();
  const run = async (given: object, ...more: readonly unknown[]): Promise<string> => {
    const { input } = given as { readonly input: string };
    const call = loop.resolveText(name, input);
    if (!call) return loop.answer(name, input) as string;
    const runner = runnerOf(tools.find((one, at) => knownTool(one, at).name === call.name) as RunnableTool);
    if (!runner?.function) return loop.demand(call.name);
    let parsed: unknown = call.arguments;
    try {
      if (runner.parse) parsed = await runner.parse(call.arguments);
    } catch (error) {
      // The runner tells the model, too, what the parser says of its arguments; what a tool throws ends the run.
      return error instanceof Error ? error.message : String(error);
    }
    const result = await runner.function(parsed, ...more);
    return typeof result === "string" ? result : loop.manager.jsonOf(result).json;
  };
  return {
    type: "function",
    function: { name, description, parameters: schema, parse: (input) => ({ input }), function: run },
  };
}

/** A tool that is added, with what runs it. */
function runnable({ name, description, schema }: DescribedTool, loop: AgentLoop): OpenAiAddedTool {
  const parse = (input: string): object => ({ input });
  const run = (given: object): Promise<string> =>
    loop.answerAsync(name, (given as { readonly input: string }).input) as Promise<string>;
  return { type: "function", function: { name, description, parameters: schema, parse, function: run } };
}

/** What calls a model in the SDK. */
interface Resource {
  create: (params: object, options?: unknown) => unknown;
}

/** What the SDK promises: an answer that is read when somebody wants it. */
interface OpenAiPromise {
  _thenUnwrap?: (change: (answer: object) => object) => unknown;
}

/** Takes what a call cost from what the SDK makes of its answer, once that is read. */
function observed(promise: unknown, fitting: Fitting): unknown {
  const { calls } = fitting;
  const take = (answer: unknown): void => {
    if (calls === fitting.calls) fitting.observe(answer);
  };
  const read = (answer: object): object => {
    if (!(Symbol.asyncIterator in answer)) take(answer);
    else observeEvents(answer as AsyncIterable<object>, take);
    return answer;
  };
  return (promise as OpenAiPromise)._thenUnwrap?.(read) ?? promise;
}

/** Lets whoever reads a stream pass on what its call cost. Some providers say so in every chunk: the last of them counts. */
function observeEvents(stream: AsyncIterable<object>, take: (answer: unknown) => void): void {
  const events = stream[Symbol.asyncIterator].bind(stream);
  stream[Symbol.asyncIterator] = async function* () {
    let last: OpenAiAnswer | undefined;
    try {
      for await (const event of { [Symbol.asyncIterator]: events }) {
        // Events of responses have the answer inside, with what it cost once it has ended in any way.
        const { response } = event as { readonly response?: OpenAiAnswer | null };
        const answer: OpenAiAnswer | null = response === undefined ? event : response;
        if (answer?.usage) last = answer;
        yield event;
      }
    } finally {
      if (last) take(last);
    }
  };
}

/** What the SDK promises where a call is refused before it is made, with the other ways to read an answer. */
function refused(error: unknown): Promise<never> {
  const promise = Promise.reject(error);
  const same = (): Promise<never> => promise;
  return Object.assign(promise, { asResponse: same, withResponse: same, parse: same, _thenUnwrap: same });
}

/** Copies a client, fits what the copy sends, and takes what it cost. */
function served<Client extends OpenAiClient>(client: Client, fitting: Fitting): Client {
  const copy = client.withOptions({}) as Client;
  for (const resource of [copy.chat.completions, copy.responses] as Resource[]) {
    const create = resource.create.bind(resource);
    resource.create = (params, options) => {
      let fitted: object;
      try {
        fitted = fitting.fit(params);
      } catch (error) {
        return refused(error);
      }
      return observed(create(fitted, options), fitting);
    };
  }
  return copy;
}
