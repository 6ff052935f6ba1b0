// Recognises the conversation of a request: by the credential, by the session that agents name, and by hashes of its messages.
import { messageHash } from "../adapters/text-hash.js";
import { utf8 } from "../boundary/guard.js";
import { sha256 } from "../storage/checks.js";
import { declaredBy, objectsOf } from "./dialect.js";
import type { Fields } from "./dialect.js";
import { SESSION_HEADER } from "./headers.js";

/** Headers by which agents name a session. */
const HEADERS = [
  "session_id",
  "session-id",
  "x-session-id",
  "thread-id",
  "thread_id",
  "conversation_id",
  "x-conversation-id",
  "x-claude-code-session-id",
  "x-session-affinity",
];
/** Where credentials stand. */
const CREDENTIALS = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];

/** The same in the query of an address. */
const KEYS = ["key", "access_token"];

/**
 * Names the credential of a request: what is of another address never meets, nor what is of another key, but where all keys are one
 * user's. `secret` is made anew by each process, so that nobody can try keys against a name. It takes time, for which nothing of the
 * body is needed.
 */
export async function credentialOf(
  headers: Headers,
  { searchParams, origin }: URL,
  secret: string,
  isOneUser: boolean,
): Promise<string> {
  const keys = [
    ...CREDENTIALS.map((name) => headers.get(name) ?? ""),
    ...KEYS.map((name) => searchParams.get(name) ?? ""),
  ];
  const credentials = [...(isOneUser ? [] : keys), origin];
  return sha256(utf8(JSON.stringify([secret, credentials])));
}

/** Names the sessions of a credential and an API that a request may belong to; the name tells nobody of either. */
export function groupOf(credential: string, headers: Headers, body: Fields, about: string): Promise<string> {
  return sha256(utf8(JSON.stringify([credential, about, sessionOf(headers, body)])));
}

function sessionOf(headers: Headers, body: Fields): readonly unknown[] {
  const own = headers.get(SESSION_HEADER);
  if (own !== null) return ["own", own];
  const { prompt_cache_key: key, metadata } = body;
  const user = ((metadata ?? {}) as Fields)["user_id"];
  return [
    ...HEADERS.map((name) => headers.get(name)),
    typeof key === "string" ? key : null,
    typeof user === "string" ? user : null,
  ];
}

/** A message's hash and size, by which it is known again. */
export interface Print {
  readonly hash: string;
  /** As it was written, a part of the request that it stood in last. */
  readonly text: string;
}

/** Takes the prints of messages. Those that stand as they were written before are not read again. */
export function printsOf(
  messages: readonly object[],
  texts: readonly string[] | undefined,
  known: readonly Print[],
): readonly Print[] {
  const written = texts?.length === messages.length ? texts : messages.map((message) => JSON.stringify(message));
  return written.map((text, at) => ({
    text,
    hash: known[at]?.text === text ? known[at].hash : messageHash(messages[at]),
  }));
}

/** The conversation that begins most alike as it was written, for {@link printsOf}. */
export function nearestPrints(
  candidates: Iterable<readonly Print[]>,
  texts: readonly string[] | undefined,
): readonly Print[] {
  let found: readonly Print[] = [];
  let most = 0;
  for (const prints of candidates) {
    let count = 0;
    while (count < prints.length && prints[count]?.text === texts?.[count]) count += 1;
    if (count > most) [found, most] = [prints, count];
  }
  return found;
}

/** Where the first message of the user stands, up to which a conversation begins as it always did; -1 where there is none. */
export function beginningOf(messages: readonly object[]): number {
  return messages.findIndex((message) => (message as { readonly role?: unknown }).role === "user");
}

/** How many messages two conversations begin with alike. */
export function commonPrints(one: readonly Print[], other: readonly Print[]): number {
  const most = Math.min(one.length, other.length);
  let count = 0;
  while (count < most && one[count]?.hash === other[count]?.hash) count += 1;
  return count;
}

/** Names what stands before the messages: instructions and the names of tools. */
export function headOf(body: Fields): string {
  const { system, instructions, systemInstruction, system_instruction: other = systemInstruction, tools } = body;
  const names = objectsOf(tools)
    .flatMap((tool) => declaredBy(tool) ?? [tool])
    .map((tool) => ((tool["function"] ?? tool) as Fields)["name"] ?? tool["type"]);
  return messageHash([system ?? other ?? null, instructions ?? null, names]);
}
