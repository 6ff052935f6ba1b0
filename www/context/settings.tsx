// What else changes a prompt.
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { count } from "../shared/parts.tsx";
import type { Settings } from "../worker/defaults.ts";

interface SettingsProps {
  readonly settings: Settings;
  readonly onSettings: (settings: Settings) => void;
  readonly header: string;
  readonly onHeader: (header: string) => void;
  readonly footer: string;
  readonly onFooter: (footer: string) => void;
  readonly pins: readonly number[];
  readonly onPins: (pins: readonly number[]) => void;
  readonly onTurn: (text: string) => void;
}

const SWITCHES = [
  ["redact", "Redact sensitive items", "A placeholder stands in their place instead of nothing."],
] as const satisfies readonly (readonly [keyof Settings, string, string])[];

export function SettingsForm({
  settings,
  onSettings,
  header,
  onHeader,
  footer,
  onFooter,
  pins,
  onPins,
  onTurn,
}: SettingsProps): JSX.Element {
  const turn = useRef<HTMLInputElement>(null);
  return (
    <details id="settings">
      <summary>Settings, header and footer, next turn{pins.length > 0 ? `, ${count(pins.length, "pin")}` : ""}</summary>
      <div class="settings">
        {SWITCHES.map(([key, label, hint]) => (
          <label key={key} class="switch">
            <input
              id={`setting-${key}`}
              type="checkbox"
              checked={settings[key]}
              onChange={({ currentTarget }) => onSettings({ ...settings, [key]: currentTarget.checked })}
            />
            <span>
              {label} <span class="quiet small">{hint}</span>
            </span>
          </label>
        ))}
        <label>
          Header of every prompt
          <input
            id="header"
            type="text"
            maxlength={2000}
            value={header}
            autocomplete="off"
            onInput={({ currentTarget: { value } }) => onHeader(value.toWellFormed())}
          />
        </label>
        <label>
          Footer of every prompt
          <input
            id="footer"
            type="text"
            maxlength={2000}
            value={footer}
            autocomplete="off"
            onInput={({ currentTarget: { value } }) => onFooter(value.toWellFormed())}
          />
        </label>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const text = turn.current?.value.trim().toWellFormed();
            if (!text || !turn.current) return;
            onTurn(text);
            turn.current.value = "";
          }}
        >
          <label for="turn">The user's next turn: see what it does to the prompts</label>
          <span class="controls">
            <input id="turn" ref={turn} type="text" maxlength={2000} autocomplete="off" />
            <button type="submit">Add the turn</button>
          </span>
        </form>
        {pins.length > 0 && (
          <p>
            {count(pins.length, "pinned item")}.{" "}
            <button type="button" class="link" onClick={() => onPins([])}>
              Unpin all
            </button>
          </p>
        )}
      </div>
    </details>
  );
}
