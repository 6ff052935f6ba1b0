// A place for one JSON record: typed, pasted, opened or dropped.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import * as address from "../shared/address.ts";
import { OWN, Sources, fetchSample } from "../shared/sources.tsx";
import type { Warning } from "../worker/mcp.ts";

export const REVISIONS = [
  ["", "any"],
  ["2025-06-18", "2025-06-18"],
  ["2025-11-25", "2025-11-25"],
  ["2026-07-28", "2026-07-28"],
] as const;
export type Revision = (typeof REVISIONS)[number][0];

interface RecordProps<Sample extends string> {
  readonly id: string;
  readonly isActive: boolean;
  readonly what: string;
  readonly samples: readonly { readonly key: Sample; readonly title: string }[];
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly children?: JSX.Element | JSX.Element[];
}

/** More than this is worked on, but not put into a field to be typed in. */
const EDITABLE = 200_000;

export function RecordInput<Sample extends string>({
  id,
  isActive,
  what,
  samples,
  text,
  onText,
  children,
}: RecordProps<Sample>): JSX.Element {
  const [sample, setSample] = useState<Sample | "">(samples[0]?.key ?? "");
  const [status, setStatus] = useState("");
  // Of what was typed or opened the address says only that it was.
  const key = `data.${id}`;
  const [wasOwn] = useState(() => address.get(key) === OWN);
  const [isLost, setLost] = useState(wasOwn);
  const own = (): void => {
    setSample("");
    setLost(false);
    address.set(key, OWN);
  };
  const take = (name: string, bytes: ArrayBuffer): void => {
    onText(new TextDecoder().decode(bytes));
    setStatus(name);
  };
  const isLong = text.length > EDITABLE;
  return (
    <>
      <Sources
        id={id}
        isActive={isActive}
        samples={samples}
        sample={sample}
        onSample={async (name) => {
          take("", await fetchSample(name));
          // The first one comes in place of what is gone.
          if (text !== "") setLost(false);
          setSample(name);
          address.set(key, undefined);
        }}
        isLost={isLost}
        onGiven={async ({ name, bytes }) => {
          take(name, bytes);
          own();
        }}
        accepts={what}
        hasPaste={false}
        status={status}
        {...(children !== undefined && { children })}
      />
      <label for={`${id}-text`}>{isLong ? `${what} (too long to be edited here)` : what}</label>
      <textarea
        id={`${id}-text`}
        class="record"
        rows={10}
        spellcheck={false}
        autocomplete="off"
        readOnly={isLong}
        value={isLong ? `${text.slice(0, 2000)}…` : text}
        onInput={({ currentTarget }) => {
          onText(currentTarget.value.toWellFormed());
          own();
        }}
      />
    </>
  );
}

export function RevisionField({
  id,
  value,
  onChange,
}: {
  id: string;
  value: Revision;
  onChange: (revision: Revision) => void;
}): JSX.Element {
  return (
    <label class="inline">
      Revision{" "}
      <select id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value as Revision)}>
        {REVISIONS.map(([key, title]) => (
          <option key={key} value={key}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Says why there is nothing to see beside an empty field. */
export function NothingGiven({
  text,
  example,
  onExample,
}: {
  text: string;
  example: string;
  onExample: (text: string) => void;
}): JSX.Element | null {
  if (text.trim() !== "") return null;
  return (
    <div class="stack">
      <p class="quiet">Nothing to convert: type or paste a record, open a file, or choose a sample.</p>
      <p>
        <button type="button" class="link" onClick={() => onExample(example)}>
          Begin with the smallest one there is
        </button>{" "}
        <code>{example}</code>
      </p>
    </div>
  );
}

export function Warnings({ title, warnings }: { title: string; warnings: readonly Warning[] }): JSX.Element | null {
  if (warnings.length === 0) return null;
  return (
    <section aria-label={title}>
      <h4>{title}</h4>
      <ul class="findings">
        {warnings.map(({ code, message, path }, at) => (
          <li key={at} class="small">
            <code>{code}</code> {message} <span class="quiet">{path}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
