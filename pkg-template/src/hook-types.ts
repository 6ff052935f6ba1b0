// The functions that are told what happened, and what they are told.
import type { Phase } from "./types.js";

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
}

export interface FirewallTriggered {
  readonly hook: "firewall_triggered";
  readonly item_id: string;
  readonly reason: string;
}

export interface ItemsExcluded {
  readonly hook: "items_excluded";
  readonly item_ids: readonly string[];
  readonly reason: string;
}

export interface BudgetExceeded {
  readonly hook: "budget_exceeded";
  /** Tokens asked for. */
  readonly requested: number;
  /** Tokens there were. */
  readonly limit: number;
}

export interface ContextBuilt {
  readonly hook: "context_built";
  readonly phase: Phase;
}

/** What a hook is told. */
export type HookEvent = FirewallTriggered | ItemsExcluded | BudgetExceeded | ContextBuilt;
