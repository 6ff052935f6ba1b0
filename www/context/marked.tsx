// Text with what matters in it marked: as text nodes, whatever it holds.
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface MarkedProps {
  readonly label: string;
  readonly text: string;
  readonly marks: readonly string[];
}

/** Marks that are drawn; more would mark everything. */
const MAX_MARKS = 60;

export function Marked({ label, text, marks }: MarkedProps): JSX.Element {
  const box = useRef<HTMLPreElement>(null);
  const parts = split(text, marks);
  useEffect(() => {
    const mark = box.current?.querySelector("mark");
    if (!box.current || !mark) return;
    const { current } = box;
    const offset = mark.getBoundingClientRect().top - current.getBoundingClientRect().top;
    current.scrollTop += offset - current.clientHeight / 3;
  }, [text, marks.join("\n")]);
  return (
    <pre class="text" role="region" aria-label={label} tabIndex={0} ref={box}>
      {text === "" ? "(empty)" : parts.map((part, at) => (at % 2 === 1 ? <mark key={at}>{part}</mark> : part))}
    </pre>
  );
}

/** The text in parts, every second of which is marked. */
function split(text: string, marks: readonly string[]): string[] {
  const wanted = marks.filter((mark) => mark !== "");
  const parts: string[] = [];
  let [from, look] = [0, 0];
  while (parts.length < 2 * MAX_MARKS) {
    let [at, length] = [-1, 0];
    for (const mark of wanted) {
      const found = text.indexOf(mark, look);
      if (found >= 0 && (at < 0 || found < at)) [at, length] = [found, mark.length];
    }
    if (at < 0) break;
    parts.push(text.slice(from, at), text.slice(at, at + length));
    from = look = at + length;
  }
  return [...parts, text.slice(from)];
}

/** What to mark of a query that nobody has answered yet: its names and numbers, as they tell one line from another. */
export function marksOf(values: readonly string[], query: string): readonly string[] {
  if (values.length > 0) return values;
  return query.split(/[\s,;:!?()"']+/).filter((word) => word.length > 2 && /\d|[a-z][A-Z]|_/.test(word));
}
