// Reads a session: one item per line of JSON. All or nothing, and every problem has its line.
import { ContextManager, ContextWeaverError, findMessages } from "../api.js";
import type { ContextItem, ContextManagerOptions } from "../api.js";
import { UsageError } from "./options.js";
import { nameOf } from "./read-text.js";

const MAX_REPORTED = 10;

/** An item and the line it came from. */
export interface Line {
  readonly number: number;
  readonly value: unknown;
}

/** Makes a manager of a session; `name` is for messages. */
export function load(text: string, name: string, options: ContextManagerOptions): ContextManager {
  const lines = listOf(text) ?? parseLines(text, name);
  const other = otherForm(lines.map(({ value }) => value));
  if (other) {
    const file = name === nameOf("-") ? "-" : `'${name.replaceAll("'", "'\\''")}'`;
    const how = `contextweaver convert ${other.how.replace("FILE", file)} | contextweaver build -`;
    throw new UsageError(
      `${name} has ${other.what}, and build takes items; make items of them first:\n  ${how}`,
      "input",
    );
  }
  const manager = new ContextManager(options);
  try {
    manager.ingestAll(lines.map(({ value }) => value as ContextItem));
  } catch (error) {
    throw inFile(error, lines, name);
  }
  return manager;
}

/** What a file has instead of items, and how `convert` takes it. */
interface OtherForm {
  readonly what: string;
  readonly how: string;
}

/** A list of JSON in place of lines, as `convert session` prints it. */
function listOf(text: string): Line[] | undefined {
  if (!/^\s*\[/.test(text)) return undefined;
  try {
    const list = (JSON.parse(text) as unknown[]).map((value, index) => ({ number: index + 1, value }));
    return list.length > 0 ? list : undefined;
  } catch {
    return undefined; // told by the line
  }
}

/** Recognises messages of providers, and recorded sessions by the first value, which has no `kind` as items do. */
function otherForm(values: readonly unknown[]): OtherForm | undefined {
  const first = Object(values[0]) as Readonly<Record<string, unknown>>;
  if (Object.hasOwn(first, "kind")) return undefined;
  const found = findMessages(first) ?? findMessages(values);
  if (found) return { what: "chat messages", how: `messages FILE --from ${found.format} --to items` };
  if (Object.hasOwn(first, "type")) return { what: "the entries of a recorded session", how: "session FILE" };
  return undefined;
}

/** Reads lines of JSON; `name` is for messages. */
export function parseLines(text: string, name: string): Line[] {
  const lines: Line[] = [];
  const problems: string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    try {
      lines.push({ number: index + 1, value: JSON.parse(line) });
    } catch (error) {
      // Not the runtime's own sentence: it quotes the line, which may hold a secret.
      const [, place] = /position (\d+)/.exec((error as Error).message) ?? [];
      const where = place === undefined ? "" : `:${Number(place) + 1}`;
      problems.push(`${name}:${index + 1}${where}: DECODE_FAILED: the line is not valid JSON`);
    }
  }
  if (problems.length > 0) throw new UsageError(several(problems), "input");
  return lines;
}

/** The first of many problems, and how many there are beside them. */
export function several(problems: readonly string[], count = problems.length): string {
  const told = problems.slice(0, MAX_REPORTED);
  return (count > told.length ? [...told, `and ${count - told.length} more`] : told).join("\n");
}

/** Puts the line in place of the index that the engine knows. */
export function inFile(error: unknown, lines: readonly Line[], name: string): unknown {
  if (!ContextWeaverError.is(error)) return error;
  const [, index, rest] = /^\/items\/(\d+)(.*)$/s.exec(error.path ?? "") ?? [];
  const line = index === undefined ? undefined : lines[Number(index)]?.number;
  if (line === undefined) return error;
  const hint = error.hint ? ` (${error.hint})` : "";
  const at = rest ? ` at ${rest}` : "";
  return new UsageError(`${name}:${line}: ${error.code}${at}: ${error.message}${hint}`, "input");
}
