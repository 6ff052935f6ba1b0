// Where data comes from: a sample, a file, a drop, the clipboard.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../worker/text.ts";
import { Failure } from "./ask.ts";
import { ProblemBox } from "./parts.tsx";

/** Something to be loaded. */
export interface Given {
  readonly name: string;
  readonly bytes: ArrayBuffer;
}

interface SourcesProps<Sample extends string> {
  readonly id: string;
  /** Whether files that are dropped on the page are for this one. */
  readonly isActive: boolean;
  readonly samples: readonly { readonly key: Sample; readonly title: string }[];
  readonly sample: Sample | "";
  readonly onSample: (key: Sample) => Promise<void>;
  readonly onGiven: (given: Given) => Promise<void>;
  /** What a file or pasted text may hold. */
  readonly accepts: string;
  /** Whether there is no other field to paste into. */
  readonly hasPaste?: boolean;
  readonly status: string;
  readonly children?: JSX.Element | JSX.Element[];
}

export function Sources<Sample extends string>(props: SourcesProps<Sample>): JSX.Element {
  const { id, samples, sample, onSample, onGiven, accepts, status, isActive, children, hasPaste = true } = props;
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const pasted = useRef<HTMLTextAreaElement>(null);

  const attempt = async (name: string, loading: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await loading();
    } catch (error) {
      const { message, code } = error instanceof Failure ? error.problem : { message: String(error), code: "PAGE" };
      setProblem({ message: `${name} was not loaded.\n${message}`, code });
    }
    setBusy(false);
  };
  const file = (given: File): Promise<void> =>
    attempt(given.name.toWellFormed(), async () => onGiven({ name: given.name.toWellFormed(), bytes: await given.arrayBuffer() }));

  const first = useRef(false);
  useEffect(() => {
    if (first.current || sample === "") return;
    first.current = true;
    void attempt("The sample", () => onSample(sample));
  }, []);
  useEffect(() => {
    if (!isActive) return;
    const over = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
    };
    const drop = (event: DragEvent): void => {
      const dropped = event.dataTransfer?.files[0];
      if (!dropped) return;
      event.preventDefault();
      void file(dropped);
    };
    document.addEventListener("dragover", over);
    document.addEventListener("drop", drop);
    return () => {
      document.removeEventListener("dragover", over);
      document.removeEventListener("drop", drop);
    };
  });

  return (
    <div class="sources">
      <div class="controls">
        <label class="inline">
          Sample{" "}
          <select
            id={`${id}-sample`}
            value={sample}
            onChange={({ currentTarget: { value } }) => void attempt("The sample", () => onSample(value as Sample))}
          >
            {sample === "" && <option value="">your own</option>}
            {samples.map(({ key, title }) => (
              <option key={key} value={key}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <label class="button">
          Open a file
          <input
            id={`${id}-file`}
            class="unseen"
            type="file"
            onChange={({ currentTarget }) => {
              const [given] = currentTarget.files ?? [];
              if (given) void file(given);
              // So that the same file can be chosen again after it was corrected.
              currentTarget.value = "";
            }}
          />
        </label>
        <span class="quiet small">or drop one on the page</span>
        {children}
      </div>
      <details id={`${id}-paste`} hidden={!hasPaste}>
        <summary>Paste</summary>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const bytes = new TextEncoder().encode(pasted.current?.value.toWellFormed() ?? "").buffer;
            void attempt("The text", () => onGiven({ name: "Pasted text", bytes }));
          }}
        >
          <label for={`${id}-pasted`}>{accepts}</label>
          <textarea id={`${id}-pasted`} ref={pasted} rows={5} spellcheck={false} autocomplete="off" />
          <button type="submit">Load the text</button>
        </form>
      </details>
      <p id={`${id}-status`} role="status" class="quiet">
        {isBusy ? "Reading…" : status}
      </p>
      <ProblemBox problem={problem} id={`${id}-problems`} />
    </div>
  );
}

/** A file that is part of the page. */
export async function fetchSample(path: string): Promise<ArrayBuffer> {
  const response = await fetch(new URL(`./samples/${path}`, import.meta.url));
  if (!response.ok) throw new Error(`${path}: ${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}
