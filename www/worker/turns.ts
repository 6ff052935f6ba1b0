// What was said before a query: read off lines that somebody writes, written out of the transcript of the other tab.
import { ContextManager } from "contextweaver/slim";
import type { QueryCompletion, RouteTurn } from "contextweaver/slim";
import { current } from "./log.ts";
import { line, safe } from "./text.ts";

/** What a line begins with, and the turn that it makes. */
const SPEAKERS = {
  user: { kind: "user_turn" },
  agent: { kind: "agent_msg" },
  call: { kind: "tool_call" },
  "waiting call": { kind: "tool_call", is_open: true },
} as const satisfies Readonly<Record<string, Pick<RouteTurn, "kind" | "is_open">>>;
type Speaker = keyof typeof SPEAKERS;

const BEGINNING = /^(user|agent|call|waiting call)\s*:(.*)$/i;

/** Reads turns, one a line; a line that names nobody goes on with the turn before it. Their ids are their places. */
export function turnsOf(said: string): readonly RouteTurn[] {
  const turns: { speaker: Speaker; text: string }[] = [];
  for (const each of said.split("\n")) {
    const [, name, rest = ""] = BEGINNING.exec(each) ?? [];
    const last = turns.at(-1);
    if (name !== undefined) turns.push({ speaker: name.toLowerCase() as Speaker, text: rest.trim() });
    else if (last) last.text += `\n${each.trim()}`;
    else if (each.trim() !== "") turns.push({ speaker: "user", text: each.trim() });
  }
  return turns.map(({ speaker, text }, place) => {
    const turn = { id: String(place), ...SPEAKERS[speaker] };
    if (turn.kind !== "tool_call") return { ...turn, text: text.trim() };
    const [tool = ""] = text.trim().split(/\s/, 1);
    return { ...turn, tool: tool === "" ? null : tool };
  });
}

/** Writes turns so that they are read as they were. */
function written(turns: readonly RouteTurn[]): string {
  return turns
    .map(({ kind, text = "", tool, is_open: isOpen = false }) => {
      if (kind === "tool_call") return `${isOpen ? "waiting call" : "call"}: ${safe(tool ?? "")}`;
      // What is indented begins no turn.
      return `${kind === "user_turn" ? "user" : "agent"}: ${safe(text)
        .trim()
        .replace(/\s*\n\s*/g, "\n  ")}`;
    })
    .join("\n");
}

/** A turn as the page shows it. */
export interface SaidTurn {
  readonly kind: RouteTurn["kind"];
  /** What was said, or the tool that was called. */
  readonly text: string;
  readonly isOpen: boolean;
  /** Whether the query was completed from it. */
  readonly isUsed: boolean;
}

/** What was said before a query, and what that made of it. */
export interface Said {
  /** The query as it was asked. */
  readonly query: string;
  readonly turns: readonly SaidTurn[];
  readonly completion: Pick<QueryCompletion, "query" | "reason"> | null;
}

export function saidOf(query: string, turns: readonly RouteTurn[], completion: QueryCompletion | undefined): Said {
  return {
    query: line(query, 200),
    turns: turns.map(({ id, kind, text = "", tool, is_open: isOpen = false }) => ({
      kind,
      text: line(kind === "tool_call" ? (tool ?? "") : text, 400),
      isOpen,
      isUsed: completion?.item_ids.includes(id ?? "") === true,
    })),
    completion: completion ? { query: safe(completion.query), reason: completion.reason } : null,
  };
}

/** Most turns of a transcript to choose from, the last ones. */
const MAX_CHOICES = 200;

/** The user's turns of the transcript, after each of which a query may come. */
export async function turns(_: object): Promise<readonly { readonly place: number; readonly label: string }[]> {
  const present = await current();
  const places = present.items.flatMap(({ kind }, place) => (kind === "user_turn" ? [place] : []));
  return places
    .slice(-MAX_CHOICES)
    .map((place) => ({ place, label: `${present.label(place)} ${present.line(place)}` }));
}

/** What the transcript says up to the user's next turn after a place, as far as a query there may go on with it. */
export async function said({ place }: { readonly place: number }): Promise<string> {
  const { items } = await current();
  const next = items.findIndex(({ kind }, at) => at > place && kind === "user_turn");
  const manager = new ContextManager();
  try {
    manager.ingestAll(items.slice(0, next < 0 ? items.length : next));
    return written(manager.turnsBefore(""));
  } finally {
    manager.free();
  }
}
