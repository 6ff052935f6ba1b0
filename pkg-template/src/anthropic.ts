// `contextweaver/anthropic`: params of Anthropic's SDK, fitted before they are sent, in a loop of your own or the SDK's tool
// runner. It imports no SDK.
import { AgentLoop, FIND_TOOLS, addedOffers, callOffer, listOf, usageOf } from "./adapters/agent-loop.js";
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
import { lastTurn } from "./adapters/anthropic-turn.js";
import { CacheMarks } from "./adapters/cache-marks.js";
import { isMarking } from "./adapters/cache-plan.js";
import type { Sent } from "./adapters/cache-marks.js";
import { choiceOf } from "./adapters/forced-choice.js";
import { handleOf } from "./adapters/handle.js";
import type { ContextWeaverHandle } from "./adapters/handle.js";
import { FoundTools, MOST_FOUND, foundText } from "./adapters/tool-search.js";
import { ContextWeaverError } from "contextweaver";
import type { JsonObject, MessageWarning } from "contextweaver";

export type { AgentLoopOptions, AgentLoopStep, ContextWeaverHandle, Debug, LoopCosts, LeftOut, LoopReport, StepReport };

/** A tool that is added, for the SDK's tool runner, too. */
export interface AnthropicAddedTool {
  name: string;
  description: string;
  input_schema: { type: "object"; [keyword: string]: unknown };
  run: (
    input: unknown,
    context?: { readonly toolUse?: { readonly id?: string } },
  ) => Promise<string | AnthropicToolReference[]>;
  parse: (input: unknown) => unknown;
}

/** How calls of the model are fitted. */
export interface AnthropicOptions<Tool extends object> extends AgentLoopOptions {
  /**
   * All tools there are, as `messages.create` or the tool runner takes them: thousands cost nothing until a query needs them.
   * Those that are offered are loaded: `defer_loading` of yours is not sent.
   */
  readonly tools: readonly Tool[];
  /**
   * Marks the prompt with `cache_control` so that each call reads from the provider's cache what the calls before it have written,
   * however much a step adds. Your own marks stay. There are never more than the four that the provider takes: of more of yours the
   * four that save most. Default: true.
   */
  readonly cache?: boolean;
  /**
   * Defers all tools but those of `always` and those that the provider runs, and answers `find_tools` by references, at most 5: the
   * list of tools is the same in every call, so that the provider's cache of the prompt holds, and a tool costs its definition where
   * it was found. With no more tools than `max_tools` none is deferred. Default: false.
   */
  readonly tool_search?: boolean;
}

/** What `messages.create` takes, as far as it is fitted. */
export interface AnthropicParams {
  /** The whole conversation. */
  readonly messages: readonly object[];
  readonly system?: unknown;
  /** None, or all of them. */
  readonly tools?: unknown;
  readonly tool_choice?: unknown;
}

/** A block of an answer, or of anything. */
export interface AnthropicCall {
  readonly type: string;
  readonly id?: unknown;
  readonly name?: unknown;
  readonly input?: unknown;
}

/** What loads a tool that is deferred. */
export type AnthropicToolReference = {
  type: "tool_reference";
  tool_name: string;
};

/** The answer to a call; references where `tool_search` found something. */
export type AnthropicToolResult = {
  type: "tool_result";
  tool_use_id: string;
  content: string | AnthropicToolReference[];
};

/** An answer of the model, as far as it says what it cost. */
export interface AnthropicAnswer {
  /** In tokens of the model; those of the cache stand beside the others. */
  readonly usage: {
    readonly input_tokens: number;
    readonly cache_creation_input_tokens?: number | null;
    readonly cache_read_input_tokens?: number | null;
  };
}

/** A client of the SDK, as far as it is served. */
export interface AnthropicClient {
  readonly middleware: readonly unknown[];
  withOptions(options: { middleware: never[] }): unknown;
}

/** What fits the calls of one conversation. */
export interface AnthropicContextWeaver<Tool extends object> extends ContextWeaverHandle {
  /** Yours and those that are added. */
  readonly tools: (Tool | AnthropicAddedTool)[];
  /**
   * Fits params that hold the whole conversation: `messages`, `system` and `tools` are compiled, the rest stays.
   *
   * Errors: `BUDGET_EXCEEDED` when the last message of the user does not fit, `UNSUPPORTED` for a thread that the provider
   * holds, and those of `ContextManager.syncMessages`.
   */
  fit<Params extends AnthropicParams>(params: Params): Params;
  /** Answers a call of one of the tools that are added, of what is in memory; undefined for every other block, and for calls that are yours to run. */
  answer(block: AnthropicCall): AnthropicToolResult | undefined;
  /**
   * The call that a block stands for: of `call_tool`, by which a model runs tools that it was not offered, the call of your tool, with the
   * same id. Every other block is returned as it is. What `call_tool` says wrongly, `answer` answers.
   */
  resolve<Block extends AnthropicCall>(block: Block): Block;
  /** As `answer`, of a result too that was evicted from memory: the storage of the manager, its `get_blob`, is asked for it. */
  answerAsync(block: AnthropicCall): Promise<AnthropicToolResult | undefined>;
  /**
   * Takes the answer to the params that were fitted last, so that the next calls keep to the budget in tokens of their model.
   * What cannot be a count of what was sent is passed over, as one that has what the provider's own tools brought.
   * `calibrate: false` of the manager's options leaves all at the estimate.
   *
   * Errors: `INVALID_INPUT` for what is no answer.
   */
  observe(answer: AnthropicAnswer): void;
  /** A copy of a client, each of whose calls of a model is fitted and observed: for what calls it for you, such as the tool runner. */
  serve<Client extends AnthropicClient>(client: Client): Client;
}

/** Serves one conversation. Take another one for another conversation. */
export function contextWeaver<Tool extends object>(options: AnthropicOptions<Tool>): AnthropicContextWeaver<Tool> {
  const { tools, cache: given, tool_search: searches = false, ...rest } = options ?? {};
  if (!Array.isArray(tools)) {
    const init = { path: "/tools", hint: "tools as messages.create takes them; [] for none" };
    throw new ContextWeaverError(
      tools === undefined ? "MISSING_FIELD" : "INVALID_INPUT",
      "expected a list of tools",
      init,
    );
  }
  const cache = isMarking(given);
  if (typeof searches !== "boolean")
    throw new ContextWeaverError("INVALID_INPUT", "expected true or false", { path: "/tool_search" });
  const loop = new AgentLoop(rest, ["tools", "cache", "tool_search"]);
  const fitting = new Fitting(loop, tools, { cache, searches });
  const added = (tool: DescribedTool): AnthropicAddedTool => ({
    ...definitionOf(tool),
    run: async (input, context) =>
      (await fitting.answerAsync(tool.name, input, context?.toolUse?.id)) as string | AnthropicToolReference[],
    parse: (input) => input,
  });
  return {
    tools: [...(tools as Tool[]), ...addedOffers().map(added), calling(tools, loop)],
    ...handleOf(loop),
    fit: (params) => fitting.fit(params),
    resolve: (block) => {
      const call = block.type === "tool_use" ? loop.resolve(String(block.name), block.input) : undefined;
      return call ? { ...block, name: call.name, input: call.arguments } : block;
    },
    answer: ({ type, id, name, input }) =>
      resultOf(id, type === "tool_use" ? fitting.answer(String(name), input, String(id)) : undefined),
    answerAsync: async ({ type, id, name, input }) =>
      resultOf(id, type === "tool_use" ? await fitting.answerAsync(String(name), input, String(id)) : undefined),
    observe: (answer) => fitting.observe(answer),
    serve: <Client extends AnthropicClient>(client: Client) => {
      const { middleware } = client;
      return client.withOptions({ middleware: [...middleware, middlewareOf(fitting)] as never[] }) as Client;
    },
  };
}

/** The tool that runs others, for the SDK's tool runner. */
function calling(tools: readonly object[], loop: AgentLoop): AnthropicAddedTool {
  const offer = callOffer();
  return {
    ...definitionOf(offer),
    run: async (input, context) => {
      const call = loop.resolve(offer.name, input);
      if (!call) return loop.answer(offer.name, input, context?.toolUse?.id) as string;
      const tool = (tools.find((one, at) => nameOf(one, at) === call.name) ?? {}) as Partial<AnthropicAddedTool>;
      return tool.run
        ? tool.run(tool.parse ? tool.parse(call.arguments) : call.arguments, context)
        : loop.demand(call.name);
    },
    parse: (input) => input,
  };
}

function resultOf(id: unknown, content: AnthropicToolResult["content"] | undefined): AnthropicToolResult | undefined {
  return content === undefined ? undefined : { type: "tool_result", tool_use_id: String(id), content };
}

/** What can be sent of a tool. */
type Definition = Readonly<Record<string, unknown>>;

class Fitting {
  readonly #loop: AgentLoop;
  readonly #definitions: ReadonlyMap<string, Definition>;
  readonly #added: ReadonlyMap<string, Definition>;
  readonly #marks: CacheMarks;
  /** Where tools are deferred: what is loaded of them, and the list that is sent each time. */
  readonly #search:
    | { readonly found: FoundTools; readonly list: readonly Definition[]; readonly warnings: readonly MessageWarning[] }
    | undefined;
  /** The model that was asked last, by the name that the caller knows it by: its answers may tell another. */
  #model = "model";
  /** Calls that were fitted. */
  calls = 0;

  constructor(
    loop: AgentLoop,
    tools: readonly object[],
    { cache, searches }: { readonly cache: boolean; readonly searches: boolean },
  ) {
    const known = tools.map((tool, at): OfferedTool & { readonly definition: Definition } => {
      const { defer_loading: _, ...definition } = tool as Definition;
      const { description, input_schema: schema } = definition;
      return {
        name: nameOf(definition, at),
        description: typeof description === "string" ? description : undefined,
        schema: schema as JsonObject | undefined,
        definition,
      };
    });
    loop.setTools(known);
    this.#loop = loop;
    this.#definitions = new Map(known.map(({ name, definition }) => [name, definition]));
    const added = addedOffers().map(definitionOf);
    this.#added = new Map([...added, definitionOf(callOffer())].map((tool) => [tool.name, tool]));
    this.#marks = new CacheMarks(cache);
    const { standing } = loop;
    const names = known.map(({ name }) => name).filter((name) => !standing.has(name));
    // What the provider loads is called by its own name.
    const list = [...this.#definitions.values(), ...added];
    this.#search =
      searches && names.length > 0
        ? { found: new FoundTools(loop, new Set(names)), ...deferred(list, standing) }
        : undefined;
  }

  fit<Params extends AnthropicParams>(params: Params): Params {
    // `thread: false` is for the tool runner, and those that know no threads send it.
    const {
      messages: given,
      system: instructions,
      tools: all,
      tool_choice: choice,
      thread = false,
      ...rest
    } = params as AnthropicParams & Definition;
    if (thread !== false) {
      const init = {
        path: "/thread",
        hint: "send the whole conversation each time; the tool runner does with `thread: false`",
      };
      throw new ContextWeaverError(
        "UNSUPPORTED",
        "a thread is held by the provider, and only what is new is sent",
        init,
      );
    }
    if (all !== undefined) this.#loop.checkTools(listOf(all, "/tools").map(nameOf));
    const marked = this.#marks.take(listOf(given, "/messages"), instructions);
    const { system } = marked;
    const { messages, found } = withoutReferences(marked.messages);
    const { query, called } = lastTurn(messages);
    const { type, name } = (choice ?? {}) as Definition;
    const forced = type === "tool" ? [String(name)] : [];
    let sent: Sent = { messages: [], tools: [] };
    this.#model = String(rest["model"] ?? "model");
    this.calls += 1;
    const chosen = this.#search?.found.choose(found, forced, this.#model);
    this.#loop.step("anthropic", messages, {
      query,
      model: this.#model,
      called,
      demanded: forced,
      system,
      ...(chosen && { chosen }),
      translated: ({ built, tools: names }) => {
        const compiled = this.#search
          ? {
              messages: withReferences(built.messages, this.#search.found),
              tools: this.#search.list.map((tool) => (forced.includes(String(tool["name"])) ? loaded(tool) : tool)),
            }
          : {
              messages: built.messages,
              tools: names.map((one) => (this.#definitions.get(one) ?? this.#added.get(one)) as Definition),
            };
        const { warnings, ...marks } = this.#marks.put(
          { ...compiled, system: built.system },
          { automatic: rest["cache_control"], settings: params as Definition },
        );
        sent = marks;
        return [...(this.#search?.warnings ?? []), ...warnings];
      },
    });
    const names = new Set(sent.tools.map(nameOf));
    const { name: _, ...parallel } = (choice ?? {}) as Definition;
    const tool_choice = choiceOf<unknown>(choice, forced, this.#definitions, names, { ...parallel, type: "auto" });
    return {
      ...rest,
      messages: sent.messages,
      ...(sent.system !== undefined && { system: sent.system }),
      // A choice among no tools is refused.
      ...(sent.tools.length > 0 && { tools: sent.tools, ...(choice !== undefined && { tool_choice }) }),
    } as Params;
  }

  /** Answers a call of a tool that is added, by references where tools are deferred. */
  answer(name: string, input: unknown, id: string | undefined): string | AnthropicToolReference[] | undefined {
    if (!this.#search || name !== FIND_TOOLS.name) return this.#loop.answer(name, input, id);
    const { names, text } = this.#loop.search(input, id, MOST_FOUND, foundText);
    return names.length === 0 ? text : names.map(referenceTo);
  }

  /** Does the same where it may take time. */
  async answerAsync(
    name: string,
    input: unknown,
    id: string | undefined,
  ): Promise<string | AnthropicToolReference[] | undefined> {
    return name === FIND_TOOLS.name ? this.answer(name, input, id) : this.#loop.answerAsync(name, input, id);
  }

  observe(answer: unknown): void {
    const usage = usageOf(answer);
    // Where the provider ran tools, its counts add up what the model read in each of its rounds.
    if (hasServerTools(answer, usage)) return;
    const { input_tokens: read, cache_creation_input_tokens: written, cache_read_input_tokens: cached } = usage;
    this.#loop.observe(
      this.#model,
      typeof read === "number" ? read + Number(written ?? 0) + Number(cached ?? 0) : undefined,
      usage,
    );
  }
}

/** Whether the provider ran tools within a call: the answer has them, and its cost counts those that are paid for. */
function hasServerTools(answer: unknown, { server_tool_use: counts }: Definition): boolean {
  const { content } = answer as Definition;
  const blocks = Array.isArray(content) ? (content as Definition[]) : [];
  return (
    blocks.some(({ type }) => type === "server_tool_use" || type === "mcp_tool_use") ||
    Object.values((counts ?? {}) as Definition).some((count) => Number(count) > 0)
  );
}

function referenceTo(name: string): AnthropicToolReference {
  return { type: "tool_reference", tool_name: name };
}

/** Defers all tools but those that stand. What is deferred takes no mark of the cache. */
function deferred(
  tools: readonly Definition[],
  standing: ReadonlySet<string>,
): { readonly list: readonly Definition[]; readonly warnings: readonly MessageWarning[] } {
  const warnings: MessageWarning[] = [];
  const list = tools.map((tool, at) => {
    if (standing.has(nameOf(tool, at))) return tool;
    const { cache_control: mark, ...definition } = tool;
    if (mark != null)
      warnings.push({
        code: "CACHE_CONTROL_LEFT_OUT",
        message: "a tool that is deferred takes no cache_control",
        path: `/tools/${at}`,
      });
    return { ...definition, defer_loading: true };
  });
  return { list, warnings };
}

function loaded({ defer_loading: _, ...tool }: Definition): Definition {
  return tool;
}

/** Reads results that are references as texts, which the log can hold. */
function withoutReferences(messages: readonly object[]): {
  readonly messages: readonly object[];
  readonly found: ReadonlyMap<string, readonly string[]>;
} {
  const found = new Map<string, readonly string[]>();
  const list = changedResults(messages, (block) => {
    const { content, tool_use_id: id } = block;
    const references = Array.isArray(content) ? (content as Definition[]) : [];
    if (references.length === 0 || references.some(({ type }) => type !== "tool_reference")) return block;
    const names = references.map(({ tool_name: name }) => String(name));
    found.set(String(id), names);
    return { ...block, content: foundText(names) };
  });
  return { messages: list, found };
}

/** Writes results as references where what they load has room. */
function withReferences(messages: readonly object[], found: FoundTools): readonly object[] {
  const texts = new Map<string, unknown>();
  changedResults(messages, (block) => {
    texts.set(String(block["tool_use_id"]), textOf(block["content"]));
    return block;
  });
  const names = found.sent(texts);
  return changedResults(messages, (block) => {
    const references = names.get(String(block["tool_use_id"]))?.map(referenceTo);
    return references ? { ...block, content: references } : block;
  });
}

/** The text of a result that is one. */
function textOf(content: unknown): unknown {
  const [block, ...more] = Array.isArray(content) ? (content as Definition[]) : [{ text: content }];
  return more.length === 0 ? block?.["text"] : undefined;
}

/** Changes results in messages; those without are left as they are. */
function changedResults(messages: readonly object[], change: (block: Definition) => Definition): readonly object[] {
  return messages.map((message) => {
    const { content } = message as Definition;
    if (!Array.isArray(content)) return message;
    const blocks = (content as Definition[]).map((block) => (block["type"] === "tool_result" ? change(block) : block));
    return blocks.some((block, at) => block !== content[at]) ? { ...message, content: blocks } : message;
  });
}

/** A definition that the provider is sent. */
function definitionOf({ name, description, schema }: DescribedTool): {
  name: string;
  description: string;
  input_schema: { type: "object" };
} {
  return { name, description, input_schema: schema as { type: "object" } };
}

/** The name of a tool; of a toolset what its calls name it by. */
function nameOf(tool: unknown, at: number): string {
  const { name, mcp_server_name: server, type } = (tool ?? {}) as Definition;
  const called = name ?? server ?? type;
  if (typeof called === "string" && called.startsWith("tool_search_tool_")) {
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
  if (typeof called === "string") return called;
  throw new ContextWeaverError("INVALID_INPUT", "expected a tool with a name", { path: `/tools/${at}` });
}

/** A request as the SDK's middleware gets it. */
interface AnthropicRequest {
  readonly url: string;
  readonly body?: unknown;
}

/** What the SDK's middleware reads an answer by, which its client reads, too. */
interface AnthropicReader {
  parse(answer: unknown): Promise<unknown>;
}

/** Fits each call of a model that a client makes, and takes what it cost. */
function middlewareOf(fitting: Fitting) {
  return async <Request extends AnthropicRequest, Answer>(
    request: Request,
    next: (request: Request) => Promise<Answer>,
    reader?: AnthropicReader,
  ): Promise<Answer> => {
    if (!new URL(request.url).pathname.endsWith("/v1/messages") || typeof request.body !== "string")
      return next(request);
    const params = JSON.parse(request.body) as AnthropicParams & { readonly stream?: unknown };
    const fitted = { ...request, body: JSON.stringify(fitting.fit(params)) };
    const { calls } = fitting;
    // What was fitted meanwhile is another call.
    const take = (said: unknown): void => {
      if (calls === fitting.calls) fitting.observe(said);
    };
    const answer = await next(fitted);
    if (!reader || !(answer as { readonly ok?: boolean }).ok) return answer;
    const read = await reader.parse(answer);
    if (params.stream !== true) take(read);
    // What breaks a stream is told to whoever reads the client's own.
    else observeStart(read as AsyncIterable<unknown>, take).catch(() => undefined);
    return answer;
  };
}

/** Reads a stream up to what its call cost, which stands at the beginning. */
async function observeStart(events: AsyncIterable<unknown>, take: (start: unknown) => void): Promise<void> {
  for await (const event of events) {
    const { type, message } = event as { readonly type?: unknown; readonly message?: unknown };
    if (type === "message_start") return take(message);
  }
}
