// The formats that are read. The first that recognises a file reads it; what is most particular stands first.
import type { FileValue, Reader, Source } from "../events.js";
import { chatMessages } from "./chat-messages.js";
import { claudeCode } from "./claude-code.js";
import { codex } from "./codex.js";
import { geminiCli } from "./gemini-cli.js";
import { items } from "./items.js";
import { miniSweAgent } from "./mini-swe-agent.js";
import { opencode } from "./opencode.js";
import { openHands } from "./openhands.js";
import { otelSpans } from "./otel.js";
import { requestLog } from "./request-log.js";

export const READERS: readonly Reader[] = [
  claudeCode,
  codex,
  geminiCli,
  opencode,
  miniSweAgent,
  openHands,
  otelSpans,
  requestLog,
  items,
  chatMessages,
];

/** Values that tell whose file it is. */
const FIRST = 64;

/** Whose file it is, and what to read of it. */
export interface Recognised {
  /** Undefined of a file that nobody knows; its values are given up then. */
  readonly reader: Reader | undefined;
  /** The values that were looked at. */
  readonly first: readonly FileValue[];
  readonly source: Source;
}

/** Finds the reader of a file by its first values, as notes may stand before what tells whose it is; or takes the one that `as` names. */
export async function recognised(values: AsyncGenerator<FileValue>, path: string, as?: string): Promise<Recognised> {
  const first: FileValue[] = [];
  let reader = READERS.find(({ name }) => name === as);
  while (!reader && first.length < FIRST) {
    const next = await values.next();
    if (next.done) break;
    first.push(next.value);
    const seen = first.map(({ value }) => value);
    reader = READERS.find((one) => one.recognise(seen, path));
  }
  if (!reader) await values.return(undefined);
  return { reader, first, source: { path, values: joined(first, values) } };
}

async function* joined(first: readonly FileValue[], rest: AsyncIterable<FileValue>): AsyncGenerator<FileValue> {
  yield* first;
  yield* rest;
}
