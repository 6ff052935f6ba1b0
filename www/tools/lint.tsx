// What is wrong with tools, the worst first.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useAnswer } from "../shared/ask.ts";
import { ProblemBox, count, number } from "../shared/parts.tsx";
import type { Finding } from "../worker/tools.ts";

interface LintProps {
  readonly version: number;
  readonly selected: number;
  readonly onTool: (place: number) => void;
  /** What is shown below the chosen tool, where there is no room beside the list. */
  readonly details: JSX.Element | null;
}

/** What a severity means to who reads it. */
const SEVERITY: Readonly<Record<Finding["severity"], readonly [one: string, many: string, means: string]>> = {
  error: ["error", "errors", "hides text, gives away a secret, or cannot be called"],
  warning: ["warning", "warnings", "a model may choose or call it wrongly"],
  info: ["note", "notes", "could be said better"],
};

export function LintPanel({ version, selected, onTool, details }: LintProps): JSX.Element {
  const { value, problem } = useAnswer("tools.lint", {}, version);
  const [shown, setShown] = useState<Finding["severity"] | "">("");
  const isThere = value?.counts.some(({ severity }) => severity === shown) === true;
  const findings = (value?.findings ?? []).filter(({ severity }) => !isThere || severity === shown);
  // A tool may have several findings; its details stand below the one that was pressed.
  const [pressed, setPressed] = useState(-1);
  return (
    <div class="stack">
      <p class="quiet small">
        Names that collide, near-duplicates, hidden characters, text that gives orders to the model, secrets, bad
        schemas. What is found in words is a guess: no finding does not mean that a tool is safe.
      </p>
      <ProblemBox problem={problem} />
      {value && (
        <p id="lint-count" role="status">
          {value.total === 0
            ? "Nothing was found."
            : `${count(value.total, "finding")}: ${value.counts.map((each) => `${number(each.count)} ${SEVERITY[each.severity][each.count === 1 ? 0 : 1]}`).join(", ")}.`}
          {value.total > value.findings.length && ` The first ${number(value.findings.length)} are listed.`}
        </p>
      )}
      {value && value.counts.length > 1 && (
        <div class="controls" role="group" aria-label="Findings to show">
          <button type="button" aria-pressed={!isThere} onClick={() => setShown("")}>
            All {number(value.total)}
          </button>
          {value.counts.map(({ severity, count: many }) => (
            <button
              key={severity}
              type="button"
              aria-pressed={isThere && shown === severity}
              title={SEVERITY[severity][2]}
              onClick={() => setShown(severity)}
            >
              <span class={`badge ${severity}`}>{SEVERITY[severity][0]}</span> {number(many)}
            </button>
          ))}
        </div>
      )}
      <ul class="findings">
        {findings.map((finding, at) => (
          <li key={at} class={`card ${finding.severity}`}>
            <div class="card-head">
              <span class={`badge ${finding.severity}`}>{SEVERITY[finding.severity][0]}</span>{" "}
              <code>{finding.code}</code>{" "}
              {finding.place === null ? (
                <span>{finding.tool}</span>
              ) : (
                <button
                  type="button"
                  class="link"
                  aria-pressed={finding.place === selected}
                  onClick={() => {
                    setPressed(at);
                    onTool(finding.place ?? 0);
                  }}
                >
                  {finding.tool}
                </button>
              )}{" "}
              <span class="quiet small">{finding.path}</span>
            </div>
            <p class="small">{finding.message}</p>
            {finding.evidence && <pre class="evidence">{finding.evidence}</pre>}
            {at === pressed && finding.place === selected && details}
          </li>
        ))}
      </ul>
    </div>
  );
}
