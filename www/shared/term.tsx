// A technical term with a tooltip that explains it. The tooltip opens on hover, focus and touch, and closes on Escape.
// Screen readers read it out with the term.
import type { ComponentChildren, JSX } from "preact";
import { useId, useState } from "preact/hooks";

export function Term({ children, means }: { children: ComponentChildren; means: string }): JSX.Element {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  return (
    <span class="term" onPointerEnter={() => setOpen(true)} onPointerLeave={() => setOpen(false)}>
      <button
        type="button"
        class="term-word"
        aria-describedby={id}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onClick={() => setOpen(true)}
        onKeyDown={(event) => event.key === "Escape" && setOpen(false)}
      >
        {children}
      </button>
      <span role="tooltip" id={id} class="tip" hidden={!isOpen}>
        {means}
      </span>
    </span>
  );
}
