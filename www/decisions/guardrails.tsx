// An action and what each rule of the memory says of it.
import type { DecisionStakes } from "contextweaver/slim";
import type { JSX } from "preact";
import { useAddress, useChoice } from "../shared/address.ts";
import { useAnswer } from "../shared/ask.ts";
import { NumberField } from "../shared/number-field.tsx";
import { ProblemBox } from "../shared/parts.tsx";
import type { RuleResult } from "../worker/decisions.ts";
import { CategoryField } from "./ask.tsx";

const STAKES = ["low", "medium", "high", "critical"] as const satisfies readonly DecisionStakes[];
const SAYS: Readonly<Record<RuleResult["severity"], readonly [word: string, badge: string]>> = {
  block: ["blocks", "error"],
  warn: ["warns", "warning"],
  log: ["notes", "info"],
  silent: ["does not apply", "stays"],
};

export function GuardrailsPanel({
  version,
  categories,
}: {
  version: number;
  categories: readonly string[];
}): JSX.Element {
  const [description, setDescription] = useAddress("action", "Charge the card again");
  const [wanted, setCategory] = useAddress("acat", "integration");
  const category = categories.includes(wanted) ? wanted : "";
  const [stakes, setStakes] = useChoice<DecisionStakes>("stakes", STAKES, "critical");
  const [sureText, setSure] = useAddress("sure", "60");
  const confidence = NumberField.within(sureText, 0, 100, 60) / 100;
  const isEmpty = description.trim() === "";
  const { value, problem } = useAnswer(
    "decisions.check",
    isEmpty ? null : { description, category, stakes, confidence },
    version,
  );
  return (
    <div class="stack" id="guardrails">
      <p class="quiet small">
        Guardrails are rules that an action is checked against before it is done. They see what is at stake and how sure
        one is, and block, warn or stay silent.
      </p>
      <div class="controls">
        <label class="grow">
          Action{" "}
          <input
            id="action"
            type="text"
            maxlength={2000}
            autocomplete="off"
            spellcheck={false}
            value={description}
            onInput={({ currentTarget }) => setDescription(currentTarget.value.toWellFormed())}
          />
        </label>
        <CategoryField
          id="action-category"
          categories={categories}
          value={category}
          onChange={setCategory}
          all="none"
        />
        <label class="inline">
          Stakes{" "}
          <select
            id="stakes"
            value={stakes}
            onChange={({ currentTarget }) => setStakes(currentTarget.value as DecisionStakes)}
          >
            {STAKES.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
        <NumberField
          id="sure"
          label="Confidence in %"
          least={0}
          most={100}
          step={5}
          fallback={60}
          text={sureText}
          onText={setSure}
        />
      </div>
      <ProblemBox problem={problem} />
      {isEmpty && <p class="quiet">Nothing to check: write what is to be done.</p>}
      {value && !problem && !isEmpty && (
        <>
          <p id="allowed" role="status" class="headline">
            {value.isAllowed ? "It may be done." : "It must not be done like this."}
          </p>
          {value.rules.length === 0 && (
            <p class="quiet">This memory has no guardrails, so nothing speaks against anything.</p>
          )}
          <ul class="findings">
            {value.rules.map((rule) => (
              <li key={rule.id} class="card">
                <div class="card-head">
                  <span class={`badge ${SAYS[rule.severity][1]}`}>{SAYS[rule.severity][0]}</span> <b>{rule.name}</b>{" "}
                  <code>{rule.id}</code>
                </div>
                {rule.message && <p class="small">{rule.message}</p>}
                <p class="small quiet">{rule.when}</p>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
