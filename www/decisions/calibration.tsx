// How well confidence foretold outcomes: a reliability diagram, with the same figures as a table.
import type { JSX } from "preact";
import { useAnswer } from "../shared/ask.ts";
import { ProblemBox, count, number } from "../shared/parts.tsx";
import { Term } from "../shared/term.tsx";
import type { Bin, Calibration } from "../worker/decisions.ts";

const percent = (share: number): string => `${Math.round(share * 100)} %`;

export function CalibrationPanel({ version }: { version: number }): JSX.Element {
  const { value, problem } = useAnswer("decisions.calibration", {}, version);
  return (
    <div class="stack" id="calibration">
      <p class="quiet small">
        Who says “80 % sure” should be right four times out of five. Each dot is the decisions of about one confidence:
        on the line they came out as foretold, below it they were overconfident.
      </p>
      <ProblemBox problem={problem} />
      {value &&
        !problem &&
        (value.overall ? (
          <Plotted value={value} overall={value.overall} />
        ) : (
          <p id="no-outcomes">No decision has an outcome yet, so there is nothing to compare confidence with.</p>
        ))}
    </div>
  );
}

function Plotted({
  value,
  overall,
}: {
  value: Calibration;
  overall: NonNullable<Calibration["overall"]>;
}): JSX.Element {
  const { gap, accuracy, brier, ece } = overall;
  return (
    <>
      <p id="calibration-verdict" class="headline" role="status">
        {gap < -0.005
          ? `${percent(-gap)} less often right than sure`
          : gap > 0.005
            ? `${percent(gap)} more often right than sure`
            : "As often right as sure"}{" "}
        <span class="quiet small">
          {overall.interpretation}, over {count(value.reviewed, "decision")} with an outcome
        </span>
      </p>
      <div class="plot-and-table">
        <Diagram bins={value.bins} />
        <div class="stack">
          <table>
            <caption>By confidence</caption>
            <thead>
              <tr>
                <th scope="col">Said</th>
                <th scope="col">Came true</th>
                <th scope="col">Gap</th>
                <th scope="col">Decisions</th>
              </tr>
            </thead>
            <tbody>
              {value.bins.map((bin) => (
                <tr key={bin.from}>
                  <th scope="row">{percent(bin.meanConfidence)}</th>
                  <td>{percent(bin.successRate)}</td>
                  <td>{signed(bin.successRate - bin.meanConfidence)}</td>
                  <td>{number(bin.decisions)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <dl class="facts">
            <dt>Came true in all</dt>
            <dd>{percent(accuracy)}</dd>
            <dt>
              <Term means="Mean square of the distance between confidence and outcome: 0 is perfect, 0.25 is what always saying 50 % gets.">
                Brier score
              </Term>
            </dt>
            <dd>{brier.toFixed(3)}</dd>
            {ece !== null && (
              <>
                <dt>
                  <Term means="Expected calibration error: the mean gap between what was said and what came true, larger groups counting more.">
                    Mean gap
                  </Term>
                </dt>
                <dd>{percent(ece)}</dd>
              </>
            )}
          </dl>
        </div>
      </div>
      {value.advice.length > 0 && (
        <ul class="advice">
          {value.advice.map((each) => (
            <li key={each} class="small">
              {each}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const signed = (share: number): string =>
  `${share > 0.005 ? "+" : share < -0.005 ? "−" : ""}${percent(Math.abs(share))}`;

/** Units of the drawing. */
const SIDE = 300;
const LEFT = 44;
const BELOW = 40;
const TOP = 12;
const MARKS = [0, 0.25, 0.5, 0.75, 1];

function Diagram({ bins }: { bins: readonly Bin[] }): JSX.Element {
  const x = (share: number): number => LEFT + share * SIDE;
  const y = (share: number): number => TOP + (1 - share) * SIDE;
  const most = Math.max(1, ...bins.map(({ decisions }) => decisions));
  const said = bins
    .map(
      (bin) => `${percent(bin.meanConfidence)} said, ${percent(bin.successRate)} came true (${number(bin.decisions)})`,
    )
    .join("; ");
  return (
    <svg
      class="reliability"
      role="img"
      aria-label={`Reliability diagram. ${said}`}
      viewBox={`0 0 ${LEFT + SIDE + TOP} ${TOP + SIDE + BELOW}`}
    >
      {MARKS.map((mark) => (
        <g key={mark} class="grid">
          <line x1={x(0)} x2={x(1)} y1={y(mark)} y2={y(mark)} />
          <line x1={x(mark)} x2={x(mark)} y1={y(0)} y2={y(1)} />
          <text x={x(0) - 6} y={y(mark) + 4} text-anchor="end">
            {Math.round(mark * 100)}
          </text>
          <text x={x(mark)} y={y(0) + 15} text-anchor="middle">
            {Math.round(mark * 100)}
          </text>
        </g>
      ))}
      <text class="axis" x={x(0.5)} y={y(0) + 33} text-anchor="middle">
        Confidence that was said, in %
      </text>
      <text class="axis" x={12} y={y(0.5)} text-anchor="middle" transform={`rotate(-90 12 ${y(0.5)})`}>
        Came true, in %
      </text>
      <line class="ideal" x1={x(0)} y1={y(0)} x2={x(1)} y2={y(1)} />
      <text class="on-line" x={x(0.17)} y={y(0.21)} transform={`rotate(-45 ${x(0.17)} ${y(0.21)})`}>
        as sure as right
      </text>
      {bins.map(({ from, meanConfidence, successRate, decisions }) => (
        <g key={from}>
          <line class="gap" x1={x(meanConfidence)} x2={x(meanConfidence)} y1={y(meanConfidence)} y2={y(successRate)} />
          {/* Areas are as the numbers of decisions. */}
          <circle
            class={successRate < meanConfidence ? "over" : "under"}
            cx={x(meanConfidence)}
            cy={y(successRate)}
            r={5 + 9 * Math.sqrt(decisions / most)}
          >
            <title>{`${percent(meanConfidence)} said, ${percent(successRate)} came true, ${count(decisions, "decision")}`}</title>
          </circle>
          <text class="count" x={x(meanConfidence)} y={y(successRate) + 4} text-anchor="middle">
            {number(decisions)}
          </text>
        </g>
      ))}
    </svg>
  );
}
