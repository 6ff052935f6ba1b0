// The choice of a format for a file that was not recognised.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Format } from "../worker/text.ts";

interface ReadAsProps {
  readonly id: string;
  readonly formats: readonly Format[];
  /** The one that was tried in vain. */
  readonly asked: string | undefined;
  readonly onFormat: (format: string) => Promise<void>;
}

export function ReadAs({ id, formats, asked, onFormat }: ReadAsProps): JSX.Element {
  const [format, setFormat] = useState(asked ?? formats[0]?.key ?? "");
  return (
    <form
      class="controls"
      onSubmit={(event) => {
        event.preventDefault();
        void onFormat(format);
      }}
    >
      <label class="inline">
        If you know what it is, read it as{" "}
        <select id={`${id}-format`} value={format} onChange={({ currentTarget }) => setFormat(currentTarget.value)}>
          {formats.map(({ key, title }) => (
            <option key={key} value={key}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <button type="submit" id={`${id}-read-as`}>
        Read it
      </button>
    </form>
  );
}
