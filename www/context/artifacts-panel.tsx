// Stored results: the whole of what a prompt shows a part of.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Failure, ask, useAnswer } from "../shared/ask.ts";
import { List } from "../shared/list.tsx";
import { ProblemBox, Text, number } from "../shared/parts.tsx";
import { Term } from "../shared/term.tsx";
import type { SliceView } from "../worker/artifacts.ts";
import type { Problem } from "../worker/text.ts";
import { TERM } from "./words.ts";

interface ArtifactsProps {
  readonly version: string;
  /** Place in the list; -1 for none. */
  readonly selected: number;
  readonly onSelect: (index: number, place: number | null) => void;
}

const HEAD = [
  { title: "Handle", class: "c-name" },
  { title: "Type", class: "c-type" },
  { title: "Bytes", class: "c-number" },
];

export function ArtifactsPanel({ version, selected, onSelect }: ArtifactsProps): JSX.Element {
  return (
    <div class="stack">
      <p class="quiet small">
        Whatever a prompt shows of a result, the whole of it stays here, byte for byte, as an <Term means={TERM.artifact}>artifact</Term>. A model looks into it by views, a part at a time.
      </p>
      <List
        label="Artifacts"
        head={HEAD}
        version={version}
        read={(from, to) => ask("context.artifacts", { from, to })}
        reveal={selected}
        selected={selected}
        onSelect={({ place }, index) => onSelect(index, place)}
        cells={({ label, media_type, bytes }) => [label, media_type, number(bytes)]}
        rowClass={() => "artifact"}
        rowHeight={30}
        phoneHeight={34}
        empty="No tool has returned anything."
      />
      {selected >= 0 && <Artifact index={selected} version={version} />}
    </div>
  );
}

function Artifact({ index, version }: { index: number; version: string }): JSX.Element {
  const { value, problem } = useAnswer("context.views", { index }, version);
  const [slice, setSlice] = useState<SliceView>();
  const [failure, setFailure] = useState<Problem>();
  const selector = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    setSlice(undefined);
    setFailure(undefined);
  }, [index, version]);
  const look = async (asked: string): Promise<void> => {
    if (selector.current) selector.current.value = asked;
    try {
      setSlice(await ask("context.slice", { index, selector: asked }));
      setFailure(undefined);
    } catch (error) {
      setSlice(undefined);
      setFailure(error instanceof Failure ? error.problem : { message: String(error), code: "PAGE" });
    }
  };
  if (!value) return <ProblemBox problem={problem} />;
  return (
    <div class="stack" id="artifact">
      <h3>{value.row.label}</h3>
      <ProblemBox problem={value.problem ?? undefined} />
      {value.views.length > 0 && (
        <ul class="views" aria-label="Views">
          {value.views.map((view) => (
            <li key={view.selector}>
              <button type="button" class="link" onClick={() => void look(view.selector)}>
                {view.label}
              </button>
            </li>
          ))}
        </ul>
      )}
      <form
        class="selector"
        onSubmit={(event) => {
          event.preventDefault();
          void look(selector.current?.value ?? "");
        }}
      >
        <label for="selector">
          Selector, such as <code>{'{"type":"search","text":"error"}'}</code>, <code>{'{"type":"lines","start":0,"end":20}'}</code>,{" "}
          <code>{'{"type":"outline"}'}</code>
        </label>
        <textarea id="selector" ref={selector} rows={2} spellcheck={false} autocomplete="off" defaultValue={'{"type":"outline"}'} />
        <button type="submit">Drill down</button>
      </form>
      <ProblemBox problem={failure} />
      {slice && (
        <div id="slice" class="stack">
          <p class="small">{slice.line}</p>
          <Text label="Part of the artifact">{slice.text}</Text>
          {slice.next && (
            <button type="button" onClick={() => void look(slice.next ?? "")}>
              Go on
            </button>
          )}
        </div>
      )}
    </div>
  );
}
