// JSON that is easy to read: keys, texts, numbers and the rest in colours of their own.
import type { JSX } from "preact";

/** Longer texts stay in one colour: each piece is an element. */
const MAX_CHARS = 40_000;
const PIECE = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b/g;

/** JSON as it is, in a region that scrolls. */
export function Json({
  label,
  children,
  class: className = "",
}: {
  label: string;
  children: string;
  class?: string;
}): JSX.Element {
  return (
    <pre class={`text json ${className}`} role="region" aria-label={label} tabIndex={0}>
      {children.length > MAX_CHARS ? children : pieces(children)}
    </pre>
  );
}

function pieces(text: string): (string | JSX.Element)[] {
  const found: (string | JSX.Element)[] = [];
  let at = 0;
  for (const match of text.matchAll(PIECE)) {
    const [whole, string, colon] = match;
    if (match.index > at) found.push(text.slice(at, match.index));
    const name =
      string === undefined
        ? match[3] === undefined
          ? "json-word"
          : "json-number"
        : colon === undefined
          ? "json-text"
          : "json-key";
    found.push(
      <span key={match.index} class={name}>
        {string ?? whole}
      </span>,
    );
    if (colon !== undefined) found.push(colon);
    at = match.index + whole.length;
  }
  if (at < text.length) found.push(text.slice(at));
  return found;
}
