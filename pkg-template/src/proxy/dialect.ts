// The language of a provider, as far as the proxy has to know it: where the conversation stands in a request, and how an answer of several
// rounds with the model becomes one.
import type { DescribedTool } from "../adapters/agent-loop.js";
import type { StreamEvent } from "./event-stream.js";

/** An object of a provider. */
export type Fields = Readonly<Record<string, unknown>>;

/** A request, as far as it is read. */
export interface Asked {
  readonly messages: readonly object[];
  /** Instructions that the log has beside messages. */
  readonly system?: unknown;
  /** Blocks that stand before `system` and are no part of the prompt for the provider. */
  readonly billing?: readonly object[];
  /** Instructions that stand before the messages and are sent as they are. */
  readonly before?: string;
  /** How many of the messages stand before the dialogue, and are sent as they are, too. */
  readonly leading: number;
  /** What the user asked last. */
  readonly query: string;
}

/** A call of a tool that the proxy added. */
export interface OwnCall {
  readonly id: string;
  readonly name: string;
  /** An object, or the JSON of one. */
  readonly input: unknown;
}

/** An answered call. */
export interface AnsweredCall extends OwnCall {
  readonly output: string;
}

/** The end of a round with the model. */
export interface RoundEnd {
  /** Calls of added tools, which are answered here. Those of an answer that broke off are left out. */
  readonly own: readonly OwnCall[];
  /** Whether nothing else was called, so that the model is asked again. */
  readonly isOpen: boolean;
  /** Whether the client is not told of all of it: added tools were called, with or without an answer. */
  readonly isHiding: boolean;
  /** What the model said, as it stands in the next request. */
  readonly said: readonly object[];
  /** As the provider tells it. */
  readonly usage: Fields | undefined;
}

/** The parts of an answer by which the client's history shows it again. */
export interface Visible {
  /** Ids of the client's calls. */
  readonly ids: readonly string[];
  readonly text: string;
}

/** An event that is told later, or not at all. */
export interface HeldEvent {
  readonly event: StreamEvent;
  readonly data: Fields;
}

/** An answer in the making, which may take several rounds. What is told to the client is the text of a stream. */
export interface AnswerMaker {
  /** Takes an event of the present round: what the client is told now. */
  event(event: StreamEvent): string;
  /** Takes an answer that came at once. */
  whole(body: Fields): void;
  /** Ends the present round, and begins the next. */
  end(): RoundEnd;
  /** Writes the end that the client is told once no other round comes. */
  close(): string;
  /** The answer of all rounds, of those that came at once. */
  merged(): Fields;
  readonly visible: Visible;
}

/** An answer whose rounds the client's history lacks. */
export interface KeptAnswer extends Visible {
  /** Where it stands among the client's messages. */
  readonly at: number;
  /** All that was really said, with the results between. */
  readonly said: readonly object[];
  /** Results that stand beside those of the client's own calls, behind what was said. */
  readonly beside: readonly object[];
}

/** A conversation with the tools of it. */
export interface PlacedTools {
  readonly messages: readonly object[];
  readonly tools: readonly object[];
}

/** The language of an API. */
export interface Dialect {
  readonly format: "openai-chat" | "openai-responses" | "anthropic" | "gemini";
  /** The member with the conversation. */
  readonly field: "messages" | "input" | "contents";
  /** The member of a body that is the request. Default: the body is. */
  readonly within?: string;
  /** Reads a request; a text says why it cannot be changed. */
  read(body: Fields): Asked | string;
  /** Writes the definition of a tool. */
  offer(tool: DescribedTool): object;
  /** Puts tools that are added behind the client's, in `tools` or where the client has its own. Default: behind `tools`. */
  place?(messages: readonly object[], tools: readonly Fields[], own: readonly object[]): PlacedTools;
  /** Begins the answer to a request. `own` are the names of added tools. */
  answer(own: ReadonlySet<string>, body: Fields): AnswerMaker;
  /** Writes results as they stand in the next request. */
  results(answered: readonly AnsweredCall[]): readonly object[];
  /** Puts an answer back; undefined where the client's history has another there. */
  putBack(
    messages: readonly object[],
    at: number,
    kept: KeptAnswer,
  ): { readonly messages: readonly object[]; readonly taken: number } | undefined;
  /** Tells the reader of a stream that a later round failed. */
  failure(status: number, body: Fields): string;
}

/** The message of an error as providers write it. */
export function errorOf(status: number, body: Fields): { readonly type: string; readonly message: string } {
  const { type, message } = (body["error"] ?? {}) as Fields;
  return { type: String(type ?? "api_error"), message: String(message ?? `the provider answered ${status}`) };
}

/** Whether a text is the same but for white space. */
export function isSameText(one: string, other: string): boolean {
  return one.replaceAll(/\s+/g, " ").trim() === other.replaceAll(/\s+/g, " ").trim();
}

/** Whether two lists have the same names. */
export function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name) => other.includes(name));
}

/** How many messages stand before the dialogue: instructions, and what is no message of anybody, such as tools that are told of there. */
export function leading(messages: readonly object[], isOther: (message: Fields) => boolean): number {
  const first = (messages as readonly Fields[]).findIndex(
    (message) => !["system", "developer"].includes(String(message["role"])) && !isOther(message),
  );
  return Math.max(first, 0);
}

/** The field by which a tool of Gemini declares functions, which has two spellings; undefined of every other tool. */
export function declaringField(tool: Fields): string | undefined {
  return ["functionDeclarations", "function_declarations"].find((field) => Array.isArray(tool[field]));
}

/** The functions that a tool of Gemini declares; undefined of every other tool. */
export function declaredBy(tool: Fields): readonly Fields[] | undefined {
  const field = declaringField(tool);
  return field === undefined ? undefined : objectsOf(tool[field]);
}

/** A list of objects, or none. */
export function objectsOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "object" && one !== null) : [];
}
