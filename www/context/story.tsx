// The story in one sentence, and the sum that it stands on.
import type { Phase } from "contextweaver/slim";
import type { JSX } from "preact";
import { count, number } from "../shared/parts.tsx";
import type { PhaseView } from "../worker/builds.ts";
import { PHASE, reasonName } from "./words.ts";

interface StoryProps {
  readonly phase: Phase;
  readonly view: PhaseView | undefined;
  readonly items: number;
}

export function Headline({ id = "headline", phase, view, items }: StoryProps & { readonly id?: string }): JSX.Element {
  return (
    <h2 class="headline" id={id}>
      {view ? <Sentence phase={phase} view={view} items={items} /> : "What enters the prompt, what stays out, and why"}
    </h2>
  );
}

function Sentence({ phase, view, items }: StoryProps & { view: PhaseView }): JSX.Element {
  const { problem, whole, prompt_tokens, budget, included, shortened, holds } = view;
  if (problem)
    return (
      <>
        No prompt to {PHASE[phase].task}: what must be in it does not fit into {number(budget)} tokens.
      </>
    );
  if (included === items && shortened === 0)
    return (
      <>
        {count(prompt_tokens, "token")} fit into {number(budget)}: nothing has to go. Lower the budget, and something
        does.
      </>
    );
  const figures = (
    <span class="figure">
      {number(whole)} tokens <span aria-hidden="true">→</span>
      <span class="unseen"> become </span> {number(prompt_tokens)}.
    </span>
  );
  const [first] = holds;
  if (!first) {
    return (
      <>
        {figures} {number(included)} of {count(items, "item")} stay
        {shortened > 0 ? `, ${number(shortened)} of them shortened` : ""}.
      </>
    );
  }
  const missing = holds.filter(({ isIn }) => !isIn);
  const shown = missing.length > 0 ? missing : holds;
  const named = shown.map(({ value }, at) => (
    <>
      {at > 0 ? " and " : ""}
      <code key={value} class={missing.length > 0 ? "lost" : "found"}>
        {value}
      </code>
    </>
  ));
  return (
    <>
      {figures} The answer, {named}, {missing.length > 0 ? "is not in any more" : "is still in"}.
    </>
  );
}

/** What became of all tokens of the log: the parts add up to the whole, withheld items included. */
export function Ledger({ phase, view }: StoryProps & { view: PhaseView }): JSX.Element | null {
  if (view.problem) return null;
  const { prompt_tokens, named, around, cut, shortened, left, whole, rounding } = view;
  const rows = [
    { what: `in the ${phase} prompt`, tokens: prompt_tokens - named - around },
    ...(cut > 0 ? [{ what: `cut from ${count(shortened, "long item")}`, tokens: cut }] : []),
    ...left.map(({ name, tokens, items }) => ({ what: `${reasonName(name)}, ${count(items, "item")}`, tokens })),
    ...(rounding !== 0 ? [{ what: "difference of counting each item by itself", tokens: rounding }] : []),
  ];
  return (
    <details class="ledger" id="ledger">
      <summary>Where the {number(whole)} tokens are</summary>
      <table>
        <tbody>
          {rows.map(({ what, tokens }) => (
            <tr key={what}>
              <td class="n">{number(tokens)}</td>
              <th scope="row">{what}</th>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td class="n">{number(whole)}</td>
            <th scope="row">the log</th>
          </tr>
        </tfoot>
      </table>
      {named + around > 0 && (
        <p class="quiet">
          The prompt has {count(named + around, "token")} more: what names that which left, header and footer.
        </p>
      )}
    </details>
  );
}
