// The messages of running prompts as they were sent last, so that only what comes behind them crosses from the engine again.
import type { BuiltMessages, MessageFormat, MessageWarning } from "../messages/message-types.js";
import type { BuildStats, ContextPack, Phase, RunningStep } from "../types.js";

/** What the engine returns of a step. @internal */
export interface WrittenStep {
  /** Messages that were sent before and stand above these. */
  readonly keep: number;
  readonly messages: readonly unknown[];
  /** Absent where it stays as it was. */
  readonly system?: unknown;
  readonly warnings: readonly MessageWarning[];
  /** Absent of a running prompt that was not asked for an explanation. */
  readonly pack?: ContextPack;
  readonly stats: BuildStats;
  readonly tokens: number;
  readonly step?: RunningStep;
}

interface Sent {
  readonly messages: readonly unknown[];
  readonly system?: unknown;
}

/** Copies what holds other values; texts are shared. Who changes what he was handed changes nothing that is sent again. */
function copied<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copied) as T;
  const copy: Record<string, unknown> = {};
  // A loop, as `Object.fromEntries` took three times as long for the messages of a long conversation.
  for (const key of Object.keys(value)) {
    const one = copied((value as Record<string, unknown>)[key]);
    // Assigning would take this key for the prototype.
    if (key === "__proto__")
      Object.defineProperty(copy, key, { value: one, enumerable: true, writable: true, configurable: true });
    else copy[key] = one;
  }
  return copy as T;
}

/** The messages that were sent last, by phase and format. @internal */
export class SentMessages {
  readonly #sent = new Map<string, Sent>();

  /** How many there are. */
  count(phase: unknown, format: unknown): number {
    if (typeof phase !== "string" || typeof format !== "string") return 0;
    return this.#sent.get(`${phase} ${format}`)?.messages.length ?? 0;
  }

  /** Puts the messages of a step behind those that stay. `read` makes its record. */
  take<F extends MessageFormat>(
    phase: Phase,
    format: F,
    { keep, stats, pack, step, messages: behind, ...written }: WrittenStep,
    warnings: readonly string[],
    read: (step: number) => ContextPack,
  ): BuiltMessages<F> {
    const withWarnings = (made: ContextPack): ContextPack =>
      warnings.length === 0 ? made : { ...made, warnings: [...(made.warnings ?? []), ...warnings] };
    if (!step)
      return {
        ...written,
        messages: behind,
        tokens: written.tokens,
        pack: withWarnings(pack as ContextPack),
      } as BuiltMessages<F>;
    const key = `${phase} ${format}`;
    const before = this.#sent.get(key);
    const messages = [...(before?.messages.slice(0, keep) ?? []), ...behind];
    const system = written.system ?? (keep > 0 ? before?.system : undefined);
    this.#sent.set(key, { messages, ...(system !== undefined && { system }) });
    return {
      messages: copied(messages),
      ...(system !== undefined && { system: copied(system) }),
      warnings: written.warnings,
      tokens: written.tokens,
      step,
      pack: pack ? withWarnings(pack) : recordOf(phase, stats, step, warnings, () => withWarnings(read(step.step))),
    } as unknown as BuiltMessages<F>;
  }
}

/** A record of which only the numbers are there; the rest is made when it is read. */
function recordOf(
  phase: Phase,
  stats: BuildStats,
  running: RunningStep,
  warnings: readonly string[],
  read: () => ContextPack,
): ContextPack {
  let made: ContextPack | undefined;
  const whole = (): ContextPack => (made ??= read());
  return {
    stats,
    phase,
    running,
    ...(warnings.length > 0 && { warnings }),
    get prompt() {
      return whole().prompt;
    },
    get items() {
      return whole().items ?? [];
    },
    get envelopes() {
      return whole().envelopes;
    },
  };
}
