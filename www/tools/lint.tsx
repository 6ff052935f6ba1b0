// What is wrong with tools.
import type { JSX } from "preact";
import { useAnswer } from "../shared/ask.ts";
import { ProblemBox, count } from "../shared/parts.tsx";

export function LintPanel({ version, onTool }: { version: number; onTool: (place: number) => void }): JSX.Element {
  const { value, problem } = useAnswer("tools.lint", {}, version);
  return (
    <div class="stack">
      <p class="quiet small">
        Names that collide, near-duplicates, hidden characters, text that gives orders to the model, secrets, bad schemas. What is found in words is a guess: no finding
        does not mean that a tool is safe.
      </p>
      <ProblemBox problem={problem} />
      {value && (
        <p id="lint-count" role="status">
          {value.total === 0 ? "Nothing was found." : `${count(value.total, "finding")}.`}
        </p>
      )}
      <ul class="findings">
        {value?.findings.map((finding, at) => (
          <li key={at} class={`card ${finding.severity}`}>
            <div class="card-head">
              <span class={`badge ${finding.severity}`}>{finding.severity}</span> <code>{finding.code}</code>{" "}
              {finding.place === null ? (
                <span>{finding.tool}</span>
              ) : (
                <button type="button" class="link" onClick={() => onTool(finding.place ?? 0)}>
                  {finding.tool}
                </button>
              )}{" "}
              <span class="quiet small">{finding.path}</span>
            </div>
            <p class="small">{finding.message}</p>
            {finding.evidence && <pre class="evidence">{finding.evidence}</pre>}
          </li>
        ))}
      </ul>
    </div>
  );
}
