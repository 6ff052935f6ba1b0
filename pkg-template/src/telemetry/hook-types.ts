// The functions that are told what happened, and what they are told.
import type { BuildStats, Phase, RunningStep } from "../types.js";

/**
 * Functions told what happened, after the operation has completed. One that throws does not disturb the operation:
 * the pack carries a warning and `stats().hook_errors` counts it.
 */
export interface Hooks {
  /** The firewall kept a result out of the prompt. */
  readonly firewall_triggered?: (event: FirewallTriggered) => void;
  /** Items were dropped; once per reason and build. */
  readonly items_excluded?: (event: ItemsExcluded) => void;
  /** Something did not fit. */
  readonly budget_exceeded?: (event: BudgetExceeded) => void;
  /** A build is complete. */
  readonly context_built?: (event: ContextBuilt) => void;
  /** A build threw. */
  readonly build_failed?: (event: BuildFailed) => void;
  /** An adapter ran one of the tools that it adds. */
  readonly tool_executed?: (event: ToolExecuted) => void;
}

/** A result was kept out of prompts. */
export interface FirewallTriggered {
  readonly hook: "firewall_triggered";
  readonly item_id: string;
  readonly reason: string;
}

/** Items were dropped from a prompt. */
export interface ItemsExcluded {
  readonly hook: "items_excluded";
  readonly item_ids: readonly string[];
  readonly reason: string;
}

/** Items were dropped for the token budget. */
export interface BudgetExceeded {
  readonly hook: "budget_exceeded";
  /** Tokens asked for. */
  readonly requested: number;
  /** Tokens there were. */
  readonly limit: number;
}

/** A prompt was built. */
export interface ContextBuilt {
  readonly hook: "context_built";
  readonly phase: Phase;
  /** The record that the pack has. */
  readonly stats: BuildStats;
  /** Tokens of what is sent: of the messages, where messages were built. */
  readonly tokens: number;
  /** Of a running prompt. */
  readonly running?: RunningStep;
  readonly duration_ms: number;
}

/** A prompt could not be built. */
export interface BuildFailed {
  readonly hook: "build_failed";
  /** Absent when the phase itself was wrong. */
  readonly phase?: Phase;
  /** The code of the error, such as `BUDGET_EXCEEDED`. */
  readonly error_type: string;
  readonly duration_ms: number;
}

/** A tool that an adapter adds was run. */
export interface ToolExecuted {
  readonly hook: "tool_executed";
  /** `drilldown`, `recall` or `find_tools`. */
  readonly name: string;
  /** The id that the model gave to the call, where the framework tells it. */
  readonly call_id?: string;
  /** What the model said, as JSON; credentials are masked. */
  readonly arguments: string;
  /** What the model was answered; credentials are masked, also those that it may repeat. */
  readonly result: string;
  /** The code of the error that the model was told. */
  readonly error_type?: string;
  readonly duration_ms: number;
}

/** What a hook is told. */
export type HookEvent = FirewallTriggered | ItemsExcluded | BudgetExceeded | ContextBuilt | BuildFailed | ToolExecuted;
