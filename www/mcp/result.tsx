// A result of a tool: the envelope for the model, the bytes beside it.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../shared/ask.ts";
import { ProblemBox, Text, number } from "../shared/parts.tsx";
import type { Binary } from "../worker/mcp.ts";
import { NothingGiven, RecordInput, RevisionField, Warnings, type Revision } from "./record.tsx";

const SAMPLES = [
  { key: "result-rich.json", title: "Text, a picture, a sound, a link, data" },
  { key: "result-error.json", title: "An error" },
] as const;

export function ResultPanel({ isActive }: { isActive: boolean }): JSX.Element {
  const [text, setText] = useState("");
  const [tool, setTool] = useState("screenshot");
  const [revision, setRevision] = useState<Revision>("");
  const { value, problem } = useAnswer("mcp.result", text.trim() === "" ? null : { text, tool, revision });
  return (
    <div class="columns">
      <section class="stack" aria-label="Result as a server sends it">
        <p class="quiet small">
          What a server returns is for programs. The model gets a short text; pictures, sounds and long data stay beside it, under handles, and never become text in a
          prompt.
        </p>
        <RecordInput id="result" isActive={isActive} what="Result of tools/call, or the whole JSON-RPC answer" samples={SAMPLES} text={text} onText={setText}>
          <label class="inline">
            Tool <input id="result-tool" type="text" maxlength={200} value={tool} autocomplete="off" onInput={({ currentTarget }) => setTool(currentTarget.value.toWellFormed())} />
          </label>
          <RevisionField id="result-revision" value={revision} onChange={setRevision} />
        </RecordInput>
      </section>
      <section class="stack" aria-label="Envelope" aria-live="polite">
        <NothingGiven text={text} />
        <ProblemBox problem={problem} id="result-problem" />
        {value && !problem && (
          <div class="stack" id="envelope">
            <h3>
              Envelope <span class={`badge ${value.status === "ok" ? "kept" : "dropped"}`}>{value.status}</span>
            </h3>
            <h4>What the model reads</h4>
            <Text label="Summary">{value.summary}</Text>
            {value.facts.length > 0 && (
              <>
                <h4>Facts</h4>
                <ul>
                  {value.facts.map((fact) => (
                    <li key={fact} class="small">
                      {fact}
                    </li>
                  ))}
                </ul>
              </>
            )}
            <Warnings title="What did not come through" warnings={value.warnings} />
            {value.binaries.length > 0 && <h4>Kept beside it</h4>}
            <ul class="binaries">
              {value.binaries.map((binary) => (
                <BinaryView key={binary.handle} binary={binary} />
              ))}
            </ul>
            <details>
              <summary>All text, and the envelope as JSON</summary>
              <Text label="All text">{value.fullText.text}</Text>
              <Text label="Envelope as JSON">{value.envelope}</Text>
            </details>
          </div>
        )}
      </section>
    </div>
  );
}

/** Bytes as a picture or a sound, through an address that ends with the page. */
function BinaryView({ binary: { handle, media_type, label, size, bytes, text } }: { binary: Binary }): JSX.Element {
  const [url, setUrl] = useState("");
  useEffect(() => {
    if (!bytes) return;
    const made = URL.createObjectURL(new Blob([bytes], { type: media_type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes, media_type]);
  return (
    <li class="card">
      <p class="small">
        <b>{label}</b> <span class="quiet">{media_type}</span>, {number(size)} bytes
        <br />
        <code>{handle}</code>
      </p>
      {url !== "" && media_type.startsWith("image/") && <img src={url} alt={label} />}
      {url !== "" && media_type.startsWith("audio/") && <audio controls src={url} aria-label={label} />}
      {!bytes && <Text label={`Beginning of ${label}`}>{text}</Text>}
    </li>
  );
}
