// A recorded session as events, whatever file it is in. A reader knows formats and no prices; whoever takes these events knows prices and
// no formats.
import type { RunningCosts } from "../generated.js";

/** A message as OpenAI's chat completions have it, which all formats are read into. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  /** Text, or parts of which some are media. */
  readonly content: string | null | readonly ChatPart[];
  readonly tool_calls?: readonly ChatCall[];
  /** Of `tool`: the call that it answers. */
  readonly tool_call_id?: string;
}

/** A part of a message. */
export interface ChatPart {
  readonly type: string;
  readonly text?: string;
}

/** A call of a tool. */
export interface ChatCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** The provider's count of a call, in its own tokens. */
export interface RecordedUsage {
  /** The whole prompt, with what was read from the cache. */
  readonly input: number;
  /** Of these, read from the cache; absent where the log does not say. */
  readonly cached?: number | undefined;
  /** Of these, written to the cache. */
  readonly written?: number | undefined;
  /** Of those that were written, for an hour in place of five minutes. */
  readonly written_hour?: number | undefined;
  readonly output?: number | undefined;
}

/** A call of a model: it was sent the messages of its conversation so far. */
export interface RecordedCall {
  /** When it was sent, in milliseconds since 1970. */
  readonly at?: number | undefined;
  readonly model?: string | undefined;
  readonly usage?: RecordedUsage | undefined;
  /** Who answered behind a router that has several providers of a model. */
  readonly provider?: string | undefined;
  /** Whether it wrote a summary of the conversation, with other instructions than the calls around it. */
  readonly isSummary?: boolean | undefined;
  /** Names the call wherever it is recorded: a session that was resumed in another file has the same calls again. */
  readonly key?: string | undefined;
}

/** What a session of contextweaver counted while it ran, as `costs()` tells it, and the budget of its last step. */
export interface SessionAccount extends RunningCosts {
  readonly budget: number;
}

/** Why a conversation goes back. */
export type BackReason = "compaction" | "edit";

/** Something that happens in a file of recorded sessions; a reader tells them in order. */
export type SessionEvent =
  /** A conversation begins. `parent` is the session whose subagent it is. */
  | {
      readonly kind: "begin";
      readonly conversation: string;
      readonly session: string;
      readonly parent?: string | undefined;
      readonly account?: SessionAccount | undefined;
    }
  | { readonly kind: "messages"; readonly conversation: string; readonly messages: readonly ChatMessage[] }
  /** The conversation keeps its first `to` messages alone. */
  | { readonly kind: "back"; readonly conversation: string; readonly to: number; readonly why: BackReason }
  /** What stands before the messages, where it is known. */
  | {
      readonly kind: "head";
      readonly conversation: string;
      readonly instructions?: string | undefined;
      readonly tools?: string | undefined;
    }
  | { readonly kind: "call"; readonly conversation: string; readonly call: RecordedCall }
  | { readonly kind: "end"; readonly conversation: string }
  /** Something that could not be read; reading goes on. */
  | { readonly kind: "problem"; readonly line?: number | undefined; readonly reason: string };

/** A value of JSON in a file, and the line where it begins, from 1. */
export interface FileValue {
  readonly line: number;
  readonly value: unknown;
}

/** A file with its values, for a reader. */
export interface Source {
  /** As it was given, or as it was found in a folder. */
  readonly path: string;
  /** The lines of JSON Lines, or the document of a file that is one. */
  readonly values: AsyncIterable<FileValue>;
}

/** Reads the sessions of one agent or log. */
export interface Reader {
  /** Which it is in reports. */
  readonly name: string;
  /** Tells whether a file is its own, by the first values in it and by its path. */
  recognise(first: readonly unknown[], path: string): boolean;
  read(source: Source): AsyncGenerator<SessionEvent>;
}
