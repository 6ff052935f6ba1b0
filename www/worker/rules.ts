// What the user said once and for all, as the page lists it.
import type { ContextManager, RuleState, StandingRule } from "contextweaver/slim";
import { log } from "./log.ts";
import { safe } from "./text.ts";

export interface RuleView {
  readonly id: string;
  readonly text: string;
  readonly kind: string;
  readonly state: RuleState;
  readonly why: string;
  /** Where it was said, as the page shows it; null for what the caller added. */
  readonly label: string | null;
  /** That item's place in the log. */
  readonly place: number | null;
  /** The user's words, where the caller put others in their place. */
  readonly said: string | null;
  /** Ids of what it took the place of, and of what took its place. */
  readonly replaces: readonly string[];
  readonly replacedBy: string | null;
}

export interface RulesView {
  /** Whether the session keeps them. */
  readonly isOn: boolean;
  readonly rules: readonly RuleView[];
}

/** The rules of a manager; `placeOf` says where an item is in the log. */
export function rulesOf(
  manager: Pick<ContextManager, "rules">,
  placeOf: (id: string) => number | undefined,
): readonly RuleView[] {
  const all = manager.rules();
  const view = ({ id, text, kind, state, why, item_id, said, replaced_by }: StandingRule): RuleView => ({
    id: safe(id),
    text: safe(text),
    kind,
    state,
    why: safe(why),
    label: item_id === undefined ? null : safe(item_id),
    place: (item_id === undefined ? undefined : placeOf(item_id)) ?? null,
    said: said === undefined ? null : safe(said),
    replaces: all.filter((other) => other.replaced_by === id).map((other) => safe(other.id)),
    replacedBy: replaced_by === undefined ? null : safe(replaced_by),
  });
  return all.map(view);
}

/** Lists the rules of the transcript that is loaded, whether its prompts keep them or not. */
export function rules(_: object): RulesView {
  const { manager, places, settings } = log();
  return { isOn: settings.rules, rules: settings.rules ? rulesOf(manager, (id) => places.get(id)) : [] };
}
