// What a visitor takes along: the address, the build as a program, and how to install the package.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Text } from "../shared/parts.tsx";

interface TakeAwayProps {
  readonly code: string;
  /** Whether the address alone brings this back. */
  readonly isShared: boolean;
}

const INSTALL = "npm install contextweaver";

export function TakeAway({ code, isShared }: TakeAwayProps): JSX.Element {
  const [told, setTold] = useState("");
  const copy = async (what: string, text: string): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setTold(`${what} is in your clipboard.`);
    } catch {
      setTold(
        `The browser does not let this page write to the clipboard. Copy it by hand: ${what === "The code" ? "it stands below" : text}`,
      );
    }
  };
  return (
    <section class="take-away" aria-labelledby="take-title">
      <h3 id="take-title">Take it with you</h3>
      <div class="controls">
        <button type="button" id="copy-link" onClick={() => void copy("The link", location.href)}>
          Copy the link
        </button>
        <button type="button" id="copy-code" class="primary" onClick={() => void copy("The code", code)}>
          Copy as code
        </button>
        <code class="install">{INSTALL}</code>
        <button type="button" id="copy-install" onClick={() => void copy("The line", INSTALL)}>
          Copy
        </button>
      </div>
      <p role="status" id="copied" class="small">
        {told}
      </p>
      {!isShared && (
        <p class="quiet small">The link has your settings, not your transcript: that never leaves this page.</p>
      )}
      <details id="code">
        <summary>TypeScript that builds this prompt</summary>
        <Text label="Program that builds this prompt">{code}</Text>
      </details>
    </section>
  );
}
