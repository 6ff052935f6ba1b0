// Rules in force: what the user said once and for all, why it is taken for a rule, and what became of it.
import type { JSX } from "preact";
import { useAnswer } from "../shared/ask.ts";
import { ProblemBox, count } from "../shared/parts.tsx";
import type { RuleView } from "../worker/rules.ts";

const STATE: Readonly<Record<RuleView["state"], string>> = {
  in_force: "in force",
  once: "for one time only",
  replaced: "replaced",
  withdrawn: "withdrawn",
};

interface RulesPanelProps {
  readonly version: string;
  readonly isOn: boolean;
  readonly onSwitch: (isOn: boolean) => void;
  readonly onItem: (place: number) => void;
}

export function RulesPanel({ version, isOn, onSwitch, onItem }: RulesPanelProps): JSX.Element {
  const { value, problem } = useAnswer("context.rules", {}, version);
  return (
    <div class="stack">
      <label class="switch">
        <input
          id="setting-rules"
          type="checkbox"
          checked={isOn}
          onChange={({ currentTarget }) => onSwitch(currentTarget.checked)}
        />
        <span>
          Keep what the user said once{" "}
          <span class="quiet small">Rules in force stand in every prompt, in the user's words.</span>
        </span>
      </label>
      <ProblemBox problem={problem} />
      {value?.isOn && <RuleList rules={value.rules} onItem={onItem} />}
    </div>
  );
}

/** The rules in force, and below them those that hold no more. */
export function RuleList({
  rules,
  onItem,
}: {
  readonly rules: readonly RuleView[];
  readonly onItem: (place: number) => void;
}): JSX.Element {
  const holds = rules.filter(({ state }) => state === "in_force");
  const others = rules.filter(({ state }) => state !== "in_force");
  if (rules.length === 0) return <p class="quiet">Nothing that the user said reads like a rule.</p>;
  return (
    <div class="stack" id="rules">
      <h3>{count(holds.length, "rule")} in force</h3>
      <ul class="rules">
        {holds.map((rule) => (
          <Rule key={rule.id} rule={rule} onItem={onItem} />
        ))}
      </ul>
      {others.length > 0 && (
        <details>
          <summary>{others.length === 1 ? "1 that holds no more" : `${others.length} that hold no more`}</summary>
          <ul class="rules">
            {others.map((rule) => (
              <Rule key={rule.id} rule={rule} onItem={onItem} />
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function Rule({ rule, onItem }: { readonly rule: RuleView; readonly onItem: (place: number) => void }): JSX.Element {
  const { text, kind, state, why, label, place, said, replaces, replacedBy } = rule;
  return (
    <li id={`rule-${rule.id}`}>
      <q>{text}</q>{" "}
      <span class="small quiet">
        {kind}, {STATE[state]}
        {replacedBy !== null && ` by ${replacedBy}`}
        {replaces.length > 0 && `, took the place of ${replaces.join(", ")}`}; {why}
        {said !== null && `; the user said “${said}”`}{" "}
        {label === null || place === null ? (
          (label ?? "")
        ) : (
          <button type="button" class="link chip" onClick={() => onItem(place)}>
            {label}
          </button>
        )}
      </span>
    </li>
  );
}
