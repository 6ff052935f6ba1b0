// The state of the page in the fragment of its address, which no server ever sees.
import { useEffect, useState } from "preact/hooks";

let values = read();
const listeners = new Set<() => void>();
let writing: ReturnType<typeof setTimeout> | undefined;

function read(): Map<string, string> {
  return new Map([...new URLSearchParams(location.hash.slice(1))].map(([key, value]) => [key, value.toWellFormed()]));
}

addEventListener("hashchange", () => {
  // What has not been written yet belongs to the entry that was left.
  clearTimeout(writing);
  values = read();
  for (const listener of listeners) listener();
});

/** What a visitor would call another place: the way back leads to it. All else is a change of the place one is at. */
const PLACES: readonly string[] = ["tab", "view", "tview", "mview", "dview"];

const fragment = (): string => `#${new URLSearchParams([...values])}`;

/** Browsers limit how often a page may change its address. */
function write(): void {
  clearTimeout(writing);
  writing = setTimeout(() => history.replaceState(null, "", fragment()), 300);
}

export function get(key: string): string | undefined {
  return values.get(key);
}

/** Sets a value, or takes it away. */
export function set(key: string, value: string | undefined): void {
  if (values.get(key) === value) return;
  // The place that is left keeps what was just said of it.
  if (PLACES.includes(key)) history.replaceState(null, "", fragment());
  if (value === undefined) values.delete(key);
  else values.set(key, value);
  if (PLACES.includes(key)) {
    clearTimeout(writing);
    history.pushState(null, "", fragment());
  } else {
    write();
  }
  for (const listener of listeners) listener();
}

/** Forgets what belongs to something that was replaced. */
export function clear(...prefixes: readonly string[]): void {
  for (const key of [...values.keys()]) if (prefixes.some((prefix) => key.startsWith(prefix))) values.delete(key);
  write();
  for (const listener of listeners) listener();
}

/** A part of the state; the default stays out of the address. */
export function useAddress(key: string, fallback: string): [string, (value: string) => void] {
  const [, redraw] = useState(0);
  useEffect(() => {
    const listener = (): void => redraw((count) => count + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return [values.get(key) ?? fallback, (value) => set(key, value === fallback ? undefined : value)];
}

/** A part of the state that has few values; anything else in the address is the default. */
export function useChoice<T extends string>(key: string, choices: readonly T[], fallback: T): [T, (value: T) => void] {
  const [value, setValue] = useAddress(key, fallback);
  return [choices.find((choice) => choice === value) ?? fallback, setValue];
}
