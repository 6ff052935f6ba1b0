// A result of a tool: the envelope for the model, the bytes beside it.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "../shared/ask.ts";
import { Bars } from "../shared/chart.tsx";
import { Json } from "../shared/json.tsx";
import { ProblemBox, Text, count, number } from "../shared/parts.tsx";
import { Term } from "../shared/term.tsx";
import type { Binary } from "../worker/mcp.ts";
import { NothingGiven, RecordInput, RevisionField, Warnings, type Revision } from "./record.tsx";

const SAMPLES = [
  { key: "result-rich.json", title: "Text, a picture, a sound, a link, data" },
  { key: "result-error.json", title: "An error" },
] as const;

const EXAMPLE = '{"content":[{"type":"text","text":"Hello"}]}';
const STATUS: Readonly<Record<string, string>> = { ok: "kept", error: "error" };

export function ResultPanel({ isActive }: { isActive: boolean }): JSX.Element {
  const [text, setText] = useState("");
  const [tool, setTool] = useState("screenshot");
  const [revision, setRevision] = useState<Revision>("");
  const { value, problem } = useAnswer("mcp.result", text.trim() === "" ? null : { text, tool, revision });
  return (
    <div class="columns even">
      <section class="stack" aria-label="Result as a server sends it">
        <p class="quiet small">
          What a server returns is for programs. The model gets a short text; pictures, sounds and long data stay beside
          it, under handles, and never become text in a prompt.
        </p>
        <RecordInput
          id="result"
          isActive={isActive}
          what="Result of tools/call, or the whole JSON-RPC answer"
          samples={SAMPLES}
          text={text}
          onText={setText}
        >
          <label class="inline">
            Tool{" "}
            <input
              id="result-tool"
              type="text"
              maxlength={200}
              value={tool}
              autocomplete="off"
              onInput={({ currentTarget }) => setTool(currentTarget.value.toWellFormed())}
            />
          </label>
          <RevisionField id="result-revision" value={revision} onChange={setRevision} />
        </RecordInput>
        {value && !problem && (
          <>
            <h3>
              The result as it came <span class="quiet small">{count(value.tokens.result, "token")}</span>
            </h3>
            <Json label="Result as JSON" class="tall">
              {value.received}
            </Json>
          </>
        )}
      </section>
      <section class="stack" aria-label="Envelope" aria-live="polite">
        <NothingGiven text={text} example={EXAMPLE} onExample={setText} />
        <ProblemBox problem={problem} id="result-problem" />
        {value && !problem && (
          <div class="stack" id="envelope">
            <h3>
              <Term means="What stands for a result in the log and in prompts: a short text, facts, and handles that lead to the bytes.">
                Envelope
              </Term>{" "}
              <span class={`badge ${STATUS[value.status] ?? "warning"}`}>{value.status}</span>
            </h3>
            <h4>
              What the model reads{" "}
              <span class="quiet small" id="result-tokens">
                {count(value.tokens.summary, "token")} of {number(value.tokens.result)}
              </span>
            </h4>
            <Bars
              label={`${number(value.tokens.summary)} of ${number(value.tokens.result)} tokens`}
              to={Math.max(value.tokens.summary, value.tokens.result)}
              bars={[
                {
                  row: "",
                  name: "read",
                  value: value.tokens.summary,
                  fill: "var(--accent)",
                  title: `the model reads ${count(value.tokens.summary, "token")}`,
                },
                {
                  row: "",
                  name: "beside",
                  value: Math.max(0, value.tokens.result - value.tokens.summary),
                  fill: "var(--raised)",
                  title: "stays beside the prompt",
                },
              ]}
            />
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
            {value.binaries.length > 0 && (
              <h4>
                Kept beside it, as{" "}
                <Term means="Bytes that a tool returned, stored as they came. A handle names each; drilldown reads parts of it later.">
                  artifacts
                </Term>
              </h4>
            )}
            <ul class="binaries">
              {value.binaries.map((binary) => (
                <BinaryView key={binary.handle} binary={binary} />
              ))}
            </ul>
            <h4>The envelope as JSON</h4>
            <Json label="Envelope as JSON">{value.envelope}</Json>
            <details>
              <summary>
                All text of the result
                {value.fullText.parts > 1 && `, the first of ${number(value.fullText.parts)} parts`}
              </summary>
              <Text label="All text">{value.fullText.text}</Text>
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
