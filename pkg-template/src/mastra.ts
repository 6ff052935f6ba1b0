// `contextweaver/mastra`: an input processor for the agents of Mastra 1. It imports no Mastra.
import { addedOffers, callOffer } from "./adapters/agent-loop.js";
import type {
  AgentLoop,
  AgentLoopOptions,
  AgentLoopStep,
  ChosenTools,
  ConversationAhead,
  DescribedTool,
  Debug,
  LeftOut,
  LoopReport,
  StepReport,
  OfferedTool,
} from "./adapters/agent-loop.js";
import type { LoopCosts } from "./adapters/loop-report.js";
import { Conversations, catalogAt } from "./adapters/conversations.js";
import type { ConversationsOptions, ServedConversation } from "./adapters/conversations.js";
import type { ContextWeaverHandle, ConversationsHandle } from "./adapters/handle.js";
import { choiceOf, forcedTool } from "./adapters/forced-choice.js";
import { lastTurn } from "./adapters/last-turn.js";
import { MODEL_MARKS, marksOf, pricesOfModel } from "./adapters/model-marks.js";
import type { ModelMarks } from "./adapters/model-marks.js";
import { takeMarks } from "./adapters/moving-marks.js";
import { promptMessage, readPart } from "./adapters/model-prompt.js";
import type { Fields } from "./adapters/model-prompt.js";
import { aiSdkSchema } from "./catalog/tool-set.js";
import { Catalog, ContextWeaverError, countTokens } from "contextweaver";

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

/** What the framework's list of messages tells, as far as it is needed. */
export interface MastraMessageList {
  readonly get: { readonly all: { readonly aiV5: { readonly model: () => readonly object[] } } };
}

/** What the framework tells of a call that was made, as far as it is needed. */
export interface MastraCalled {
  readonly usage?: { readonly inputTokens?: unknown; readonly cachedInputTokens?: unknown; readonly raw?: unknown };
  readonly providerMetadata?: object | undefined;
}

/** What the framework tells `processInputStep`, as far as it is needed. */
export interface MastraStepInput {
  readonly messages: readonly { readonly id: string; readonly role: string }[];
  readonly messageList: MastraMessageList;
  readonly tools?: Readonly<Record<string, unknown>>;
  readonly activeTools?: readonly string[];
  readonly toolChoice?: unknown;
  readonly structuredOutput?: unknown;
  readonly requestContext?: object;
  readonly model?: object;
  /** What was called before in this run, with what it cost. */
  readonly steps?: readonly MastraCalled[];
  /** Goes from one method to the next. */
  readonly state: Record<string, unknown>;
}

/** What `processInputStep` answers. */
export interface MastraStep {
  tools: Record<string, unknown>;
  activeTools: string[];
  /** The choice among tools, where the framework told one: `auto` in place of one that forces a tool for which there was no room. */
  toolChoice?: "auto" | "none" | "required" | { type: "tool"; toolName: string };
}

/** What the framework tells `processLLMRequest`, as far as it is needed. */
export interface MastraRequest<Prompt> {
  readonly prompt: Prompt;
  readonly model: object;
  readonly state: Record<string, unknown>;
}

/** What an agent of Mastra takes among its `inputProcessors`. */
export interface MastraProcessor extends ConversationsHandle {
  readonly id: "contextweaver";
  /** Chooses the tools of a step, and adds `drilldown`, `recall`, `find_tools` and `call_tool`. */
  readonly processInputStep: (input: MastraStepInput) => MastraStep;
  /** Compiles what is sent to the model. What the memory has stays whole. */
  readonly processLLMRequest: <Prompt extends readonly object[]>(
    request: MastraRequest<Prompt>,
  ) => Promise<{ prompt: Prompt }>;
}

const FORMAT = "ai-sdk-model";
const STATE = "contextweaver";
/** Of a message with one letter, and what stands around it. */
const FILLER_TOKENS = 8;

/** What a step's first method leaves for the second. */
interface StepState {
  readonly key: string;
  /** Calls of the run whose cost was taken. */
  readonly paid: number;
  /** The model that was called. */
  readonly model?: string | undefined;
  readonly chosen?: ChosenTools;
  readonly reserved_tokens?: number;
  /** What went wrong: of what the first method throws the framework tells the message alone. */
  readonly error?: ContextWeaverError;
}

/** What is kept of a conversation beside its loop. */
interface Kept {
  readonly marks: ModelMarks | undefined;
  /** The tools that the loop knows. */
  tools?: Readonly<Record<string, unknown>>;
}

/** How an agent of Mastra is served. */
export interface MastraOptions extends ConversationsOptions {
  /**
   * Marks prompts for models of Anthropic, whoever serves them, with `cacheControl` or on Amazon Bedrock with `cachePoint`, so that each
   * call reads what those before it have written. Your own marks count. Default: true.
   */
  readonly cache?: boolean;
}

/**
 * Makes a processor that serves the agent's conversations: before each call of the model the log is brought in line with the
 * messages, large results are digested, tools are chosen, and what is sent keeps to the budget. What is stored stays whole.
 *
 * A thread of the memory is a conversation; without one it is known by its first message. Put it behind the other processors, and
 * give each agent its own.
 *
 * Errors of a step: `BUDGET_EXCEEDED` when the last message of the user does not fit, and those of `ContextManager.syncMessages`.
 */
export function contextWeaver(options: MastraOptions): MastraProcessor {
  const isRecord = typeof options === "object" && (options as unknown) !== null;
  const { cache, ...rest } = isRecord ? options : ({} as MastraOptions);
  const begin = (): Kept => ({ marks: marksOf(cache) });
  // What is wrong with the option is said at once.
  begin();
  const conversations = new Conversations<Kept>(isRecord ? rest : options, begin);
  return conversations.handle<Omit<MastraProcessor, keyof ConversationsHandle>>({
    id: "contextweaver",
    processInputStep(input) {
      const { messages, messageList, tools = {}, requestContext, steps = [], state } = input;
      const key = keyOf(requestContext, messages);
      const conversation = conversations.of(key);
      const { paid = 0, model } = (state[STATE] ?? {}) as Partial<StepState>;
      const last = steps.at(-1);
      // A step that is tried again is told of the same calls.
      if (model !== undefined && last !== undefined && steps.length > paid)
        conversation.loop.observe(model, inputTokens(last), last.usage);
      const active = activeOf(input);
      const step = stepOf(conversation, input, active);
      state[STATE] = { key, paid: steps.length, ...step } satisfies StepState;
      // A log that had to give way while a tool ran is read again.
      const served = (answer: (loop: AgentLoop) => unknown): Promise<unknown> => {
        const isNew = conversations.get(key) === undefined;
        return conversations.during(key, (present) => {
          if (isNew) present.loop.manager.syncMessages(messageList.get.all.aiV5.model(), FORMAT);
          setTools(present, active);
          return answer(present.loop);
        });
      };
      const ofLoop = (offer: DescribedTool) =>
        addedTool(offer, (input, call) => served((loop) => loop.answerAsync(offer.name, input, call?.toolCallId)));
      const added = {
        ...Object.fromEntries(addedOffers().map((offer) => [offer.name, ofLoop(offer)])),
        call_tool: addedTool(callOffer(), (input, call) => served((loop) => runTool(loop, tools, input, call))),
      };
      const names = step.chosen?.names ?? [];
      const choice = input.toolChoice as MastraStep["toolChoice"];
      const toolChoice = choiceOf(choice, forcedTool(choice), new Map(Object.entries(tools)), new Set(names), "auto");
      return {
        tools: { ...tools, ...added },
        activeTools: [...names],
        ...(toolChoice !== undefined && { toolChoice }),
      };
    },
    async processLLMRequest<Prompt extends readonly object[]>({ prompt, model, state }: MastraRequest<Prompt>) {
      const step = state[STATE] as StepState | undefined;
      if (!step)
        throw new ContextWeaverError("UNSUPPORTED", "the step was not prepared", {
          hint: "put the processor itself among the agent's inputProcessors",
        });
      const { key, error, chosen, reserved_tokens = 0 } = step;
      if (error) throw error;
      const called = modelId(model);
      const named = { provider: (model as { readonly provider?: unknown }).provider, modelId: called ?? "" };
      state[STATE] = { ...step, model: called } satisfies StepState;
      const { filler, said } = withoutFiller(prompt as readonly Fields[]);
      const { messages, putBack } = takeMarks(said.map(modelMessage), MODEL_MARKS);
      const { built, marks } = await conversations.during(key, async ({ loop, kept }) => {
        const step = await loop.stepLater(FORMAT, messages, {
          ...lastTurn(messages),
          ...(chosen && { chosen }),
          reserved_tokens: reserved_tokens + (filler ? FILLER_TOKENS : 0),
          model: called,
          prices: pricesOfModel(named),
        });
        return { built: step.built, marks: kept.marks };
      });
      const { specificationVersion } = model as { readonly specificationVersion?: unknown };
      const written = putBack(built.messages as unknown as readonly Fields[]).map((message) =>
        promptMessage(message, specificationVersion),
      );
      const first = written.findIndex(({ role }) => role !== "system");
      if (filler && written[first]?.["role"] === "assistant") written.splice(first, 0, filler);
      // The tools, which are before it, are not seen here.
      const { prompt: marked } = marks?.mark({ prompt: written, tools: [] }, named, {}) ?? { prompt: written };
      return { prompt: marked as readonly object[] as Prompt };
    },
  });
}

/**
 * What a call read in all. Models of Anthropic and of Bedrock of interface v2 do not count what was in the cache or went into it; others
 * do, and where nobody can tell which it is, nothing is known.
 */
function inputTokens({ usage, providerMetadata }: MastraCalled): unknown {
  const { inputTokens: told, cachedInputTokens: read, raw } = usage ?? {};
  const { anthropic, bedrock } = (providerMetadata ?? {}) as {
    readonly anthropic?: { readonly cacheCreationInputTokens?: unknown };
    readonly bedrock?: { readonly usage?: { readonly cacheWriteInputTokens?: unknown } };
  };
  // The usage of later interfaces is nested.
  const isFlat = typeof (raw as Fields | undefined)?.["inputTokens"] === "number";
  if (typeof told !== "number" || !isFlat || !(anthropic ?? bedrock)) return told;
  const written = anthropic?.cacheCreationInputTokens ?? bedrock?.usage?.cacheWriteInputTokens;
  const cached = [read, written].reduce<number>((sum, one) => sum + (typeof one === "number" ? one : 0), 0);
  if (cached === 0) return told;
  // More than the whole is no part of it.
  return cached > told ? told + cached : undefined;
}

/** A tool of the framework, as far as it is run. */
interface RunTool {
  readonly execute?: (input: unknown, call?: MastraToolCall) => Promise<unknown>;
  readonly requireApproval?: unknown;
  readonly needsApprovalFn?: unknown;
}

/**
 * Runs the tool that a call of `call_tool` stands for. One that a human has to approve is not run but offered: the framework asks by
 * the name of the tool.
 */
async function runTool(
  loop: AgentLoop,
  tools: Readonly<Record<string, unknown>>,
  input: unknown,
  call: MastraToolCall | undefined,
): Promise<unknown> {
  const { name: own } = callOffer();
  const meant = loop.resolve(own, input);
  if (!meant) return loop.answer(own, input, call?.toolCallId);
  const tool = (tools[meant.name] ?? {}) as RunTool;
  const isFree = (tool.requireApproval ?? false) === false && tool.needsApprovalFn === undefined;
  return isFree && tool.execute ? tool.execute(meant.arguments, call) : loop.demand(meant.name);
}

/** The tools that the caller has not left out. */
function activeOf({ tools = {}, activeTools }: MastraStepInput): Fields {
  return Object.fromEntries(Object.entries(tools).filter(([name]) => activeTools?.includes(name) ?? true));
}

function setTools({ loop, kept }: ServedConversation<Kept>, tools: Fields): void {
  if (kept.tools !== undefined && isSameSet(kept.tools, tools)) return;
  loop.setTools(offered(tools));
  kept.tools = tools;
}

/** Chooses the tools of a step. */
function stepOf(
  conversation: ServedConversation<Kept>,
  { messages: stored, toolChoice, structuredOutput, messageList, model }: MastraStepInput,
  active: Fields,
): Pick<StepState, "chosen" | "reserved_tokens" | "error"> {
  const { loop } = conversation;
  try {
    setTools(conversation, active);
    const messages = messageList.get.all.aiV5.model() as readonly Fields[];
    const { query, called } = lastTurn(messages);
    // Only the prompt that comes after has the form that the log knows.
    const ahead: ConversationAhead = { format: FORMAT, messages, user_turn: turnOf(stored) };
    const chosen = loop.choose({
      query,
      called,
      demanded: forcedTool(toolChoice),
      factor: loop.factorOf(modelId(model)),
      ahead,
    });
    return { chosen, reserved_tokens: formatTokens(structuredOutput) };
  } catch (error) {
    if (!ContextWeaverError.is(error)) throw error;
    return { error };
  }
}

/**
 * Takes out the message that the framework puts above an answer at the beginning, as some providers want one: the user did not say
 * it, and before it may stand what the memory has forgotten.
 */
function withoutFiller(prompt: readonly Fields[]): { readonly filler?: Fields; readonly said: readonly Fields[] } {
  const first = prompt.findIndex(({ role }) => role !== "system");
  const [filler, next] = prompt.slice(first, first + 2);
  const [part, ...more] = Array.isArray(filler?.["content"]) ? (filler["content"] as readonly Fields[]) : [];
  // Of what a user said it notes when.
  const isFiller =
    filler?.["role"] === "user" &&
    next?.["role"] === "assistant" &&
    part?.["text"] === "." &&
    more.length === 0 &&
    !part["providerOptions"];
  return isFiller ? { filler, said: prompt.filter((message) => message !== filler) } : { said: prompt };
}

/** The key of a conversation: its thread, or its first message. */
function keyOf(context: object | undefined, messages: MastraStepInput["messages"]): string {
  const { get } = (context ?? {}) as { readonly get?: (key: string) => unknown };
  const { thread } = (get?.call(context, "MastraMemory") ?? {}) as { readonly thread?: { readonly id?: unknown } };
  return typeof thread?.id === "string" ? thread.id : `message:${String(messages[0]?.id)}`;
}

/** Names what the user said last: an answer of many steps is stored behind it. */
function turnOf(messages: MastraStepInput["messages"]): string {
  return String(messages.filter(({ role }) => role !== "assistant").at(-1)?.id);
}

/** The name of a model, as far as it has one. */
function modelId(model: object | undefined): string | undefined {
  const { modelId: id } = (model ?? {}) as { readonly modelId?: unknown };
  return typeof id === "string" ? id : undefined;
}

/** What the framework tells a tool of its call. */
interface MastraToolCall {
  readonly toolCallId?: string;
}

function addedTool(
  { description, schema }: DescribedTool,
  execute: (input: unknown, call?: MastraToolCall) => Promise<unknown>,
) {
  return { description, inputSchema: aiSdkSchema(schema), execute };
}

function isSameSet(one: Fields, other: Fields): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}

/** Reads what tools say of themselves; those that the provider runs have no schema. */
function offered(tools: Fields): OfferedTool[] {
  const given = Object.entries(tools).map(([name, tool]) => {
    const { description, inputSchema, parameters, type } = tool as Fields;
    return [name, { description, inputSchema: inputSchema ?? parameters, type }] as const;
  });
  const catalog = catalogAt("/tools", () => Catalog.fromAiSdk(Object.fromEntries(given), { on_invalid: "raise" }));
  const known = new Map(catalog.items().map((item) => [item.name, item]));
  catalog.free();
  return given.map(([name]) => ({
    name,
    description: known.get(name)?.description,
    schema: known.get(name)?.args_schema,
  }));
}

/** Counts the tokens of the schema of what is to be answered. */
function formatTokens(output: unknown): number {
  const { schema } = (output ?? {}) as Fields;
  if (schema === undefined) return 0;
  const catalog = catalogAt("/structuredOutput", () =>
    Catalog.fromAiSdk({ schema: { inputSchema: schema } }, { on_invalid: "raise" }),
  );
  const [item] = catalog.items();
  catalog.free();
  return countTokens(JSON.stringify(item?.args_schema));
}

/** Reads a message of a prompt: without what the framework notes for itself, such as a copy of each result. */
function modelMessage({ content, ...rest }: Fields): Fields {
  return {
    ...withoutNotes(rest),
    content: Array.isArray(content) ? (content as readonly Fields[]).map(modelPart) : content,
  };
}

function withoutNotes({ providerOptions, ...rest }: Fields): Fields {
  const { mastra, ...options } = (providerOptions ?? {}) as Fields;
  return Object.keys(options).length > 0 ? { ...rest, providerOptions: options } : rest;
}

function modelPart(part: Fields): Fields {
  if (part["type"] !== "tool-result") return withoutNotes(part);
  // The arguments stand in the call.
  const { input, ...rest } = withoutNotes(part);
  return readPart(rest);
}
