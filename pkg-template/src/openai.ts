// `contextweaver/openai`: params of OpenAI's SDK, of chat completions and of responses, fitted before they are sent, in a loop of
// your own or by `runTools`. It imports no SDK.
import { AgentLoop, FIND_TOOLS, drilldownOffer, framedTokens, listOf, usageOf } from "./adapters/agent-loop.js";
import type { AgentLoopOptions, AgentLoopStep, DescribedTool, OfferedTool } from "./adapters/agent-loop.js";
import { ContextWeaverError } from "contextweaver";
import type { ContextManager, JsonObject } from "contextweaver";

export type { AgentLoopOptions, AgentLoopStep };

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
   * Those that are offered are loaded: `defer_loading` is not sent.
   */
  readonly tools: readonly Tool[];
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
export interface OpenAiContextWeaver<Tool extends object> {
  /** Yours and the two that are added, for `runTools`. */
  readonly tools: (Tool | OpenAiAddedTool)[];
  /**
   * Fits params that hold the whole conversation: `messages` or `input`, and `tools`, are compiled, the rest stays.
   *
   * Errors: `BUDGET_EXCEEDED` when the last message of the user does not fit, `UNSUPPORTED` for a conversation that the provider
   * holds, and those of `ContextManager.syncMessages`.
   */
  fit<Params extends OpenAiChatParams | OpenAiResponsesParams>(params: Params): Params;
  /** Answers a call of one of the two tools that are added; undefined for every other call or item. */
  answer(call: OpenAiChatCall): OpenAiToolMessage | undefined;
  answer(item: OpenAiResponsesCall): OpenAiCallOutput | undefined;
  /**
   * Takes the answer to the params that were fitted last, so that the next calls keep to the budget in tokens of their model.
   * What cannot be a count of what was sent is passed over. `calibrate: false` of the manager's options leaves all at the estimate.
   *
   * Errors: `INVALID_INPUT` for what is no answer.
   */
  observe(answer: OpenAiAnswer): void;
  /** A copy of a client, each of whose calls of a model is fitted and observed: for what calls it for you, such as `runTools`. */
  serve<Client extends OpenAiClient>(client: Client): Client;
  /** The log, with all that was ever said and every byte of every result. */
  readonly manager: ContextManager;
  /** Gives the memory back. */
  free(): void;
}

/** Serves one conversation. Take another one for another conversation. */
export function contextWeaver<Tool extends object>(options: OpenAiOptions<Tool>): OpenAiContextWeaver<Tool> {
  const { tools, ...rest } = options;
  if (!Array.isArray(tools)) {
    const init = { path: "/tools", hint: "tools as the SDK takes them; [] for none" };
    throw new ContextWeaverError(tools === undefined ? "MISSING_FIELD" : "INVALID_INPUT", "expected a list of tools", init);
  }
  const loop = new AgentLoop(rest);
  const fitting = new Fitting(loop, tools);
  return {
    tools: [...(tools as Tool[]), runnable(drilldownOffer(), loop), runnable(FIND_TOOLS, loop)],
    manager: loop.manager,
    fit: (params) => fitting.fit(params),
    answer: ((call: OpenAiChatCall | OpenAiResponsesCall) => answer(loop, call)) as OpenAiContextWeaver<Tool>["answer"],
    observe: (answer) => fitting.observe(answer),
    serve: <Client extends OpenAiClient>(client: Client) => served(client, fitting),
    free: () => loop.free(),
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

class Fitting {
  readonly #loop: AgentLoop;
  readonly #known: ReadonlyMap<string, KnownTool>;
  /** The model that was asked last, by the name that the caller knows it by: its answers may tell another. */
  #model = "model";
  /** Calls that were fitted. */
  calls = 0;

  constructor(loop: AgentLoop, tools: readonly object[]) {
    const known = tools.map(knownTool);
    loop.setTools(known);
    const added = [drilldownOffer(), FIND_TOOLS].map((tool): KnownTool => ({ ...tool, definition: definitionOf(tool), isFunction: true }));
    this.#loop = loop;
    this.#known = new Map([...known, ...added].map((tool) => [tool.name, tool]));
  }

  fit<Params extends object>(params: Params): Params {
    const { tools: all, tool_choice: choice, parallel_tool_calls: parallel, ...rest } = params as Fields;
    const api = rest["messages"] === undefined ? RESPONSES : CHAT;
    const held = ["previous_response_id", "conversation"].find((field) => rest[field] != null);
    if (api === RESPONSES && held !== undefined) {
      const init = { path: `/${held}`, hint: "send the whole conversation as `input` each time" };
      throw new ContextWeaverError("UNSUPPORTED", "the provider holds the conversation, of which nothing can be left out", init);
    }
    if (all !== undefined) this.#loop.checkTools(listOf(all, "/tools").map((tool, at) => knownTool(tool, at).name));
    const messages = conversationOf(rest[api.field], api);
    const { query, called } = lastTurn(messages);
    const instructions = api === RESPONSES ? rest["instructions"] : undefined;
    const reserved_tokens = framedTokens(typeof instructions === "string" ? [instructions] : []);
    this.#model = String(rest["model"] ?? "model");
    this.calls += 1;
    const turn = { query, called: [...called, ...namesOf(choice)], reserved_tokens, model: this.#model };
    const { built, tools: names } = this.#loop.step(api.format, messages, turn);
    const tools = names.map((name) => {
      const { isFunction, definition, given } = this.#known.get(name) as KnownTool;
      if (given?.api === api) return given.tool;
      return isFunction ? api.toolOf(definition) : definition;
    });
    return {
      ...rest,
      [api.field]: built.messages,
      // What is said of tools where there are none is refused.
      ...(tools.length > 0 && { tools, ...(choice !== undefined && { tool_choice: choice }), ...(parallel !== undefined && { parallel_tool_calls: parallel }) }),
    } as Params;
  }

  observe(answer: unknown): void {
    const { prompt_tokens: chat, input_tokens: tokens = chat } = usageOf(answer);
    this.#loop.observe(this.#model, tokens);
  }
}

/** Reads the conversation of params. */
function conversationOf(given: unknown, { field }: Api): readonly object[] {
  if (field === "input" && typeof given === "string") return [{ role: "user", content: given }];
  if (given === undefined) throw new ContextWeaverError("MISSING_FIELD", "expected `messages` of chat completions or `input` of responses");
  return listOf(given, `/${field}`);
}

/** Reads a tool of either kind of calls. */
function knownTool(tool: object, at: number): KnownTool {
  const { type, function: inside, custom, ...beside } = (tool ?? {}) as Fields & { readonly function?: unknown; readonly custom?: Fields };
  const isFunction = type === "function";
  const isNested = typeof inside === "object" && inside !== null;
  const said = isFunction && isNested ? (inside as Fields) : beside;
  const { defer_loading: deferred, ...sent } = said;
  const implementation = sent["function"] as { readonly name?: unknown } | undefined;
  const name = said["name"] ?? implementation?.name ?? custom?.["name"] ?? said["server_label"] ?? type;
  if (type === "tool_search") {
    const init = { path: `/tools/${at}`, hint: "leave it out: find_tools is added, and finds among the tools of contextWeaver" };
    throw new ContextWeaverError("UNSUPPORTED", "the provider's search finds among all tools, of which it is sent some", init);
  }
  if (typeof name !== "string" || name === "") throw new ContextWeaverError("INVALID_INPUT", "expected a tool with a name", { path: `/tools/${at}` });
  const { description, parameters } = sent;
  // What runs a tool stays here.
  const definition = isFunction ? Object.fromEntries([["name", name], ...Object.entries(sent).filter(([, value]) => typeof value !== "function")]) : (tool as Fields);
  return {
    name,
    description: typeof description === "string" ? description : undefined,
    // One that is no function is not a matter of a schema, and is always there.
    schema: isFunction ? ((parameters ?? {}) as JsonObject) : undefined,
    definition,
    isFunction,
    ...(isFunction && deferred === undefined && said["name"] !== undefined && { given: { tool, api: isNested ? CHAT : RESPONSES } }),
  };
}

function definitionOf({ name, description, schema }: DescribedTool): Fields {
  return { name, description, parameters: schema };
}

/** What the user asked last, and the tools that were called since; of messages as of items. */
function lastTurn(messages: readonly object[]): { readonly query: string; readonly called: readonly string[] } {
  const list = messages as readonly Fields[];
  const last = list.map(({ role }) => role).lastIndexOf("user");
  const content = list[last]?.["content"];
  const parts = Array.isArray(content) ? (content as Fields[]) : [{ text: content }];
  const calls = list.slice(last + 1).flatMap((message) => (message["tool_calls"] as Fields[] | undefined) ?? (/_call$/.test(String(message["type"])) ? [message] : []));
  return {
    query: parts.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n"),
    called: calls.flatMap((call) => namesOf(call)),
  };
}

/** The names of tools in a call or a choice. */
function namesOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const { type, name, function: inside, custom, allowed_tools: allowed, tools, server_label: server } = value as Fields;
  if (type === "allowed_tools") return (((allowed as Fields | undefined)?.["tools"] ?? tools ?? []) as unknown[]).flatMap(namesOf);
  const called = name ?? (inside as Fields | undefined)?.["name"] ?? (custom as Fields | undefined)?.["name"] ?? server ?? type;
  return typeof called === "string" ? [called] : [];
}

/** Answers a call of an added tool, in the form of the call. */
function answer(loop: AgentLoop, call: OpenAiChatCall | OpenAiResponsesCall): OpenAiToolMessage | OpenAiCallOutput | undefined {
  if (call.type === "function") {
    const { id, function: called } = call as OpenAiChatCall;
    const content = called && loop.answer(called.name, called.arguments, id);
    return content === undefined ? undefined : { role: "tool", tool_call_id: id, content };
  }
  const { type, call_id: id, name, arguments: given } = call as OpenAiResponsesCall;
  const output = type === "function_call" ? loop.answer(String(name), given, String(id)) : undefined;
  return output === undefined ? undefined : { type: "function_call_output", call_id: String(id), output };
}

/** A tool that is added, with what runs it. */
function runnable({ name, description, schema }: DescribedTool, loop: AgentLoop): OpenAiAddedTool {
  const parse = (input: string): object => ({ input });
  const run = async (given: object): Promise<string> => loop.answer(name, (given as { readonly input: string }).input) as string;
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

/** Lets whoever reads a stream pass on what its call cost. */
function observeEvents(stream: AsyncIterable<object>, take: (answer: unknown) => void): void {
  const events = stream[Symbol.asyncIterator].bind(stream);
  stream[Symbol.asyncIterator] = async function* () {
    for await (const event of { [Symbol.asyncIterator]: events }) {
      const { usage, type, response } = event as { readonly usage?: unknown; readonly type?: unknown; readonly response?: unknown };
      if (type === "response.completed") take(response);
      else if (usage) take(event);
      yield event;
    }
  };
}

/** Copies a client, fits what the copy sends, and takes what it cost. */
function served<Client extends OpenAiClient>(client: Client, fitting: Fitting): Client {
  const copy = client.withOptions({}) as Client;
  for (const resource of [copy.chat.completions, copy.responses] as Resource[]) {
    const create = resource.create.bind(resource);
    resource.create = (params, options) => observed(create(fitting.fit(params), options), fitting);
  }
  return copy;
}
