// A tool of a server and the item it becomes, and back.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useAnswer } from "../shared/ask.ts";
import { Json } from "../shared/json.tsx";
import { ProblemBox } from "../shared/parts.tsx";
import { NothingGiven, RecordInput, RevisionField, Warnings, type Revision } from "./record.tsx";

const SAMPLES = [
  { key: "tool-edit-file.json", title: "edit_file of the filesystem server" },
  { key: "catalogs/supabase.json", title: "first tool of the supabase server" },
] as const;

const EXAMPLE = '{"name":"get_order","inputSchema":{"type":"object"}}';

/** What a hint says, in words. */
const HINT: Readonly<Record<string, readonly [yes: string, no: string]>> = {
  readOnlyHint: ["says it only reads", "may change something"],
  destructiveHint: ["may destroy something", "says it destroys nothing"],
  idempotentHint: ["says a second call changes nothing more", "a second call may do more"],
  openWorldHint: ["may reach the outside world", "says it stays inside"],
};

export function ToolPanel({ isActive }: { isActive: boolean }): JSX.Element {
  const [text, setText] = useState("");
  const [server, setServer] = useState("filesystem");
  const [revision, setRevision] = useState<Revision>("");
  const { value, problem } = useAnswer("mcp.tool", text.trim() === "" ? null : { text, server, revision });
  return (
    <div class="columns even">
      <section class="stack" aria-label="Tool as a server sends it">
        <p class="quiet small">
          A server describes its tools in its own words. The item keeps all of them, gets an id that no other server can
          take, and reads the hints as the protocol says: what is not declared counts as the worse. Hints permit
          nothing.
        </p>
        <RecordInput
          id="mtool"
          isActive={isActive}
          what="Tool of tools/list, or the list (its first tool is read)"
          samples={SAMPLES}
          text={text}
          onText={setText}
        >
          <label class="inline">
            Server{" "}
            <input
              id="mtool-server"
              type="text"
              maxlength={100}
              value={server}
              autocomplete="off"
              onInput={({ currentTarget }) => setServer(currentTarget.value.toWellFormed())}
            />
          </label>
          <RevisionField id="mtool-revision" value={revision} onChange={setRevision} />
        </RecordInput>
      </section>
      <section class="stack" aria-label="Item" aria-live="polite">
        <NothingGiven text={text} example={EXAMPLE} onExample={setText} />
        <ProblemBox problem={problem} />
        {value && !problem && (
          <div class="stack" id="mtool-item">
            <h3 class="item-title">
              {value.id} <span class="quiet">{value.namespace}</span>
            </h3>
            <ul class="hints">
              {value.hints.map(({ name, value: is }) => (
                <li key={name}>
                  <code>{name}</code> {String(is)} <span class="quiet small">{HINT[name]?.[is ? 0 : 1]}</span>
                </li>
              ))}
            </ul>
            <Warnings title="What was ignored" warnings={value.warnings} />
            <h4>Item</h4>
            <Json label="Item as JSON">{value.item}</Json>
            <h4>Written as a tool again{revision === "" ? "" : `, in revision ${revision}`}</h4>
            <Warnings title="What that revision does not know" warnings={value.report} />
            <Json label="Tool as JSON">{value.back}</Json>
          </div>
        )}
      </section>
    </div>
  );
}
