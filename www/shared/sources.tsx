// Where data comes from: a sample, a file, a drop, the clipboard.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../worker/text.ts";
import { Failure } from "./ask.ts";
import type { Brought, GivenFile } from "./brought.ts";
import { ProblemBox } from "./parts.tsx";
import { ReadAs } from "./read-as.tsx";

/** Something to be loaded. */
export interface Given {
  readonly name: string;
  readonly bytes: ArrayBuffer;
}

/** A name in which nothing is hidden and nothing turns around: a file may be called anything. */
const visible = (name: string): string => name.replace(/[\p{Cc}\p{Cf}]/gu, "\ufffd");

/** What the address says of data that are not a sample: not which, as the page keeps none of them. */
export const OWN = "own";

interface SourcesProps<Sample extends string> {
  readonly id: string;
  /** Whether files that are dropped on the page are for this one. */
  readonly isActive: boolean;
  readonly samples: readonly { readonly key: Sample; readonly title: string }[];
  readonly sample: Sample | "";
  readonly onSample: (key: Sample) => Promise<void>;
  /** Takes what was brought, as bytes; or as a file, which may be too large to be read at once. */
  readonly onGiven?: (given: Given) => Promise<void>;
  readonly onFile?: (file: GivenFile) => Promise<void>;
  /** What comes first in place of the sample. */
  readonly brought?: Brought | undefined;
  /** What a file or pasted text may hold. */
  readonly accepts: string;
  /** Whether there is no other field to paste into. */
  readonly hasPaste?: boolean;
  readonly status: string;
  /** Whether the address is of data that went with an earlier visit. */
  readonly isLost?: boolean;
  readonly children?: JSX.Element | JSX.Element[];
}

export function Sources<Sample extends string>(props: SourcesProps<Sample>): JSX.Element {
  const {
    id,
    samples,
    sample,
    onSample,
    onGiven,
    onFile,
    accepts,
    status,
    isActive,
    brought,
    children,
    hasPaste = true,
    isLost = false,
  } = props;
  const [problem, setProblem] = useState<Problem>();
  const [failed, setFailed] = useState<Sample>();
  const [isBusy, setBusy] = useState(false);
  const pasted = useRef<HTMLTextAreaElement>(null);

  const attempt = async (name: string, loading: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    setFailed(undefined);
    try {
      await loading();
    } catch (error) {
      const { message, ...more }: Problem =
        error instanceof Failure ? error.problem : { message: String(error), code: "PAGE" };
      setProblem({ ...more, message: `${visible(name)} was not loaded.\n${message}` });
    }
    setBusy(false);
  };
  /** A list offers no second choice of what is chosen already, so a sample that did not come can be asked for again. */
  const take = (key: Sample): Promise<void> =>
    attempt("The sample", () =>
      onSample(key).catch((error: unknown) => {
        setFailed(key);
        throw error;
      }),
    );
  const [own, setOwn] = useState<GivenFile>();
  const [tried, setTried] = useState<GivenFile>();
  /** What was brought stays at hand when a sample takes its place. */
  const given = (name: string, file: Blob, as?: string): Promise<void> => {
    const one = as === undefined ? { name, file } : { name, file, as };
    setTried(one);
    return attempt(name, async () => {
      if (onFile) await onFile(one);
      else await onGiven?.({ name, bytes: await file.arrayBuffer() });
      setOwn(one);
    });
  };
  const file = (chosen: File): Promise<void> => given(chosen.name.toWellFormed(), chosen);

  const first = useRef(false);
  useEffect(() => {
    if (first.current) return;
    first.current = true;
    if (brought)
      void attempt(brought.name, async () => {
        const loaded = await brought.load();
        setTried(loaded);
        await onFile?.(loaded);
        setOwn(loaded);
      });
    else if (sample !== "") void take(sample);
  }, []);
  useEffect(() => {
    if (failed === undefined) return;
    const again = (): void => void take(failed);
    addEventListener("online", again);
    return () => removeEventListener("online", again);
  });
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
            onChange={({ currentTarget: { value } }) =>
              void (value !== "" ? take(value as Sample) : own && given(own.name, own.file, own.as))
            }
          >
            {(sample === "" || own) && <option value="">{own ? `yours: ${visible(own.name)}` : "your own"}</option>}
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
        <details id={`${id}-paste`} class="paste" hidden={!hasPaste}>
          <summary>Paste</summary>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void given("Pasted text", new Blob([pasted.current?.value.toWellFormed() ?? ""]));
            }}
          >
            <label for={`${id}-pasted`}>{accepts}</label>
            <textarea id={`${id}-pasted`} ref={pasted} rows={5} spellcheck={false} autocomplete="off" />
            <button type="submit">Load the text</button>
          </form>
        </details>
        {children}
        <span class="quiet small or-drop">or drop a file on the page</span>
        <p id={`${id}-status`} role="status" class="quiet small">
          {isBusy ? "Reading…" : problem && status === "" ? "" : status}
        </p>
      </div>
      {isLost && (
        <p id={`${id}-lost`} class="failure small">
          What had been loaded is gone, as the page keeps nothing of it. Load it again; until then this is a sample.
        </p>
      )}
      <ProblemBox problem={problem} id={`${id}-problems`} />
      {tried && problem?.formats && (
        <ReadAs
          key={tried.name}
          id={id}
          formats={problem.formats}
          asked={tried.as}
          onFormat={(as) => given(tried.name, tried.file, as)}
        />
      )}
      {failed !== undefined && (
        <button type="button" id={`${id}-again`} onClick={() => void take(failed)}>
          Try again
        </button>
      )}
    </div>
  );
}

/** A file that is part of the page. */
export async function fetchSample(path: string): Promise<ArrayBuffer> {
  const response = await fetch(new URL(`./samples/${path}`, import.meta.url));
  if (!response.ok) throw new Error(`${path}: ${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}
