// The transcript that is loaded: its manager, its items, and what each would cost whole.
import { ContextManager } from "contextweaver/slim";
import type { BuildOptions, ContextItem, ContextManagerOptions, ContextPack, StoredItem } from "contextweaver/slim";
import { DEFAULTS, type Settings } from "./defaults.ts";
import { type Transcript, type TranscriptFormat, ofMessages, read } from "./read.ts";
import { opened, source } from "./session.ts";
import { InputError, line, safe } from "./text.ts";

/** What the page says of a transcript. */
export interface Overview {
  readonly line: string;
  readonly format: TranscriptFormat;
  /** Name of the file, and where in it the list stands, as a property is written. */
  readonly file: string;
  readonly key: string;
  /** The field of the file with the instructions; empty where they do not stand beside the list. */
  readonly system: string;
  /** What the build is about where there is no query: the beginning of the user's last turn. */
  readonly lastTurn: string;
  readonly items: number;
  /** Place of the item with most tokens. */
  readonly largest: number;
  /** Tokens of a prompt with everything; null when that is more than a budget can be. */
  readonly tokens: number | null;
  readonly warnings: readonly string[];
}

export const MAX_BUDGET = 2 ** 24;
const MAX_WARNINGS = 20;
/** Text of these labels stays out of the page as it stays out of the prompt. */
const WITHHELD = ["confidential", "restricted"];

/** A manager of somebody else's: it is built with once, and tried out on its copy. */
export interface GivenManager {
  readonly manager: ContextManager;
  readonly copy: ContextManager | undefined;
}

export class Log {
  readonly manager: ContextManager;
  readonly items: StoredItem[];
  /** Where an item is in the log. */
  readonly places: Map<string, number>;
  sizes!: ReadonlyMap<string, number>;
  tokens!: number | null;
  /** The same with what no budget lets in, and without what stands around items. */
  whole!: number | null;
  readonly #lines = new Map<number, string>();

  constructor(
    public transcript: Transcript,
    readonly settings: Settings,
    readonly given?: GivenManager,
  ) {
    this.manager = given?.manager ?? ingested(transcript, settings);
    this.items = [...this.manager.events.list()];
    if (this.items.length === 0) throw new InputError("there is no item in it");
    this.places = new Map(this.items.map(({ id }, place) => [id, place]));
    this.#measure();
  }

  /** Builds once without a limit: what every item costs whole, and all of them together. */
  #measure(): void {
    // A prompt for itself leaves no traces in those that go on.
    const plain = this.given ? this.given.copy : this.manager;
    this.sizes = new Map();
    this.tokens = null;
    this.whole = null;
    if (!plain) return;
    try {
      const { stats, explanation } = plain.build({ phase: "answer", budget_tokens: MAX_BUDGET, explain: true });
      this.sizes = new Map(explanation?.candidates.map(({ item_id, tokens }) => [item_id, tokens ?? 0]));
      this.tokens = stats.prompt_tokens ?? null;
      const outside =
        explanation?.candidates.reduce((sum, { included, tokens = 0 }) => sum + (included ? 0 : tokens), 0) ?? 0;
      this.whole = this.tokens === null ? null : this.tokens - stats.header_footer_tokens + outside;
    } catch {
      // More than a budget can be.
    }
  }

  /** Adds an item to the log. The manager stays the same: it remembers the prompts that go on. */
  append(item: ContextItem): void {
    this.manager.ingest(item);
    this.places.set(item.id, this.items.length);
    this.items.push(this.manager.events.get(item.id));
    const { snapshot } = this.transcript;
    const whole = snapshot === undefined ? {} : { snapshot: JSON.stringify(this.manager.toJSON()) };
    this.transcript = { ...this.transcript, items: [...this.transcript.items, item], ...whole };
    this.#measure();
  }

  /** Makes a function that builds without leaving traces: a manager remembers the prompts that go on, so copies are asked. */
  trials(): (options: BuildOptions) => ContextPack {
    const { given } = this;
    if (given) {
      const { copy } = given;
      if (!copy)
        throw new InputError(
          "this manager cannot be tried out: it has functions of its own, or its prompt goes on with the one before",
        );
      return (asked) => copy.build(asked);
    }
    if (!this.settings.running) return (asked) => this.manager.build(asked);
    const snapshot = JSON.stringify(this.manager.toJSON());
    return (asked) => {
      const copy = ContextManager.fromJSON(snapshot, options(this.settings));
      try {
        return copy.build(asked);
      } finally {
        copy.free();
      }
    };
  }

  item(place: number): StoredItem {
    const item = this.items[place];
    if (!item) throw new InputError("there is no such item");
    return item;
  }

  /** The name of an item as the page shows it. */
  label(place: number): string {
    return safe(this.item(place).id);
  }

  withheld(place: number, sensitivity = this.item(place).sensitivity): boolean {
    return WITHHELD.includes(sensitivity);
  }

  /** The beginning of an item's text, or why it is not shown. */
  line(place: number, sensitivity?: string): string {
    const item = this.item(place);
    const label = sensitivity ?? item.sensitivity;
    if (WITHHELD.includes(label)) return `text withheld: ${label}`;
    const known = this.#lines.get(place) ?? line(item.text, 160);
    this.#lines.set(place, known);
    return known;
  }
}

/** Everything else is as by default, so that a program that says no more builds the same. */
function options({ redact, rules }: Settings): ContextManagerOptions {
  const policy = { sensitivity_action: redact ? "redact" : "drop" } as const;
  return { policy, rules };
}

function ingested({ items, snapshot }: Transcript, settings: Settings): ContextManager {
  if (snapshot !== undefined) return ContextManager.fromJSON(snapshot, options(settings));
  const manager = new ContextManager(options(settings));
  try {
    manager.ingestAll(items);
    return manager;
  } catch (error) {
    manager.free();
    throw error;
  }
}

let present: Log | undefined;
/** The opening that it is of. */
let of = 0;
let name = "";

/** The transcript that is loaded. */
export function log(): Log {
  if (!present) throw new InputError("no transcript is loaded");
  return present;
}

/** Looks into a manager of somebody else's, or no longer does. */
export function adopt(next: Log | undefined): void {
  present = next;
}

function replace(next: Log): Overview {
  present?.manager.free();
  present = next;
  return overview(next);
}

function overview(of: Log): Overview {
  const { items, tokens, transcript, settings } = of;
  const count = `${items.length.toLocaleString("en")} ${items.length === 1 ? "item" : "items"}`;
  const warnings = transcript.warnings.slice(0, MAX_WARNINGS).map(safe);
  if (transcript.warnings.length > warnings.length)
    warnings.push(`and ${transcript.warnings.length - warnings.length} more`);
  const last = items.findLastIndex(({ kind }) => kind === "user_turn");
  return {
    line: safe([`${name}: ${count}.`, ...told(settings)].join(" ")),
    format: transcript.format,
    file: safe(name.split(/[\\/ ]/).at(-1) ?? name),
    key: transcript.key ?? "",
    system: transcript.system ?? "",
    lastTurn: last < 0 ? "" : of.line(last),
    items: items.length,
    largest: items.reduce(
      (best, { id }, place) => ((of.sizes.get(id) ?? 0) > (of.sizes.get(items[best]?.id ?? "") ?? 0) ? place : best),
      0,
    ),
    tokens,
    warnings,
  };
}

/** The settings that are not as they were. */
function told({ redact, rules }: Settings): string[] {
  const parts = [
    redact && "Sensitive items are redacted.",
    rules !== DEFAULTS.rules && (rules ? "Rules of the user are kept." : "Rules of the user are not kept."),
  ];
  return parts.filter((part) => part !== false);
}

/** Takes the session that is opened, or says what is wrong with it and keeps the log that is there. */
export async function load({
  conversation,
  settings,
}: {
  readonly conversation: number;
  readonly settings?: Settings;
}): Promise<Overview> {
  const from = await source(conversation);
  const next = new Log("text" in from ? read(from.text) : ofMessages(from.messages), settings ?? DEFAULTS);
  name = from.name;
  of = opened().count;
  return replace(next);
}

/** The log of the session that is open, loaded if need be. */
export async function current(): Promise<Log> {
  const { count, chosen } = opened();
  if (!present || of !== count) await load({ conversation: chosen });
  return log();
}

/** Makes the manager anew, with other settings. */
export function settle(settings: Settings): Overview {
  return replace(new Log(log().transcript, settings));
}

let turns = 0;

/** Goes on with the conversation: what an agent's next turn does to the prompts. */
export function addTurn({ text }: { readonly text: string }): Overview {
  turns += 1;
  log().append({ id: `page:turn:${turns}`, kind: "user_turn", text });
  return overview(log());
}
