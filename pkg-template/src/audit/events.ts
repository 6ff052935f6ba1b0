// A recorded session as events, whatever the format of its file. Readers know formats but no prices; the code that takes
// these events knows prices but no formats.
import type { RunningCosts } from "../generated.js";

/** A message in the form of OpenAI's chat completions. Readers turn all formats into it. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  /** Text, or parts, some of which may be media. */
  readonly content: string | null | readonly ChatPart[];
  readonly tool_calls?: readonly ChatCall[];
  /** Id of the call that a message of role `tool` answers. */
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

/** The provider's count of a call, in tokens of its model. */
export interface RecordedUsage {
  /** Tokens of the whole prompt, with those read from the cache and written to it. */
  readonly input: number;
  /** Tokens of `input` that were read from the cache; absent where the log does not say. */
  readonly cached?: number | undefined;
  /** Tokens of `input` that were written to the cache. */
  readonly written?: number | undefined;
  /** Tokens of `written` that the cache keeps for an hour instead of five minutes. */
  readonly written_hour?: number | undefined;
  readonly output?: number | undefined;
}

/** A call of a model, which sent the messages of its conversation so far. */
export interface RecordedCall {
  /** When it was sent, in milliseconds since 1970. */
  readonly at?: number | undefined;
  readonly model?: string | undefined;
  readonly usage?: RecordedUsage | undefined;
  /** The provider that answered, behind a router with several providers for one model. */
  readonly provider?: string | undefined;
  /** Whether it wrote a summary of the conversation, with other instructions than the calls around it. */
  readonly isSummary?: boolean | undefined;
  /** Identifies the call in all files: a session that was resumed in another file has its earlier calls there again. */
  readonly key?: string | undefined;
}

/** What a session of contextweaver counted while it ran, as `costs()` tells it, and the budget of its last step. */
export interface SessionAccount extends RunningCosts {
  readonly budget: number;
}

/** Why a conversation went back to an earlier message. */
export type BackReason = "compaction" | "edit";

/** An event in a file of recorded sessions. Readers yield events in order. */
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
  /** The conversation goes back: only its first `to` messages stay. */
  | { readonly kind: "back"; readonly conversation: string; readonly to: number; readonly why: BackReason }
  /** The instructions and tools before the messages, as far as they are known. */
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
  /** The values of the lines of JSON Lines, or the one value of a JSON document. */
  readonly values: AsyncIterable<FileValue>;
}

/** Reads the sessions of one agent or log. */
export interface Reader {
  /** Its name in reports, such as `codex`. */
  readonly name: string;
  /** Tells whether it can read a file, by the first values in it and by its path. */
  recognise(first: readonly unknown[], path: string): boolean;
  read(source: Source): AsyncGenerator<SessionEvent>;
}
