// What of a call's context crosses to a server.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useAddress, useChoice } from "../shared/address.ts";
import { useAnswer } from "../shared/ask.ts";
import { Json } from "../shared/json.tsx";
import { ProblemBox, Text } from "../shared/parts.tsx";
import { Term } from "../shared/term.tsx";
import type { MetaRequest } from "../worker/mcp.ts";
import { Warnings } from "./record.tsx";

const CONTEXT = `{
  "tenant": "acme",
  "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  "locale": "de-AT",
  "user": { "id": "u-1042", "roles": ["support"] },
  "authToken": "not-a-real-token"
}`;

const POLICIES = [
  ["none", "none: nothing leaves (the default)"],
  ["allow", "allow: only these keys"],
  ["deny", "deny: all but these keys and secrets"],
  ["passThrough", "pass through: all but secrets"],
] as const;
const POLICY_KEYS = POLICIES.map(([key]) => key);

export function MetaPanel(): JSX.Element {
  // The context may hold secrets, so it stays out of the address.
  const [context, setContext] = useState(CONTEXT);
  const [policy, setPolicy] = useChoice("policy", POLICY_KEYS, "allow");
  const [keys, setKeys] = useAddress("keys", "tenant, traceparent");
  const [secrets, setSecrets] = useAddress("secrets", "");
  const [prefix, setPrefix] = useAddress("prefix", "");
  const request: MetaRequest = { context, policy, keys, secrets, prefix };
  const { value, problem } = useAnswer("mcp.meta", request);
  return (
    <div class="columns even">
      <section class="stack" aria-label="Context and policy">
        <p class="quiet small">
          Tenant, trace and credentials go to tools beside their input: the model neither sees nor sets them. What of it
          leaves for a server, as{" "}
          <Term means="A field beside the arguments of a call that MCP leaves to client and server.">_meta</Term>, a
          policy of yours decides. Nothing does by default.
        </p>
        <label for="meta-context">Context of the call, as JSON</label>
        <textarea
          id="meta-context"
          class="record"
          rows={8}
          spellcheck={false}
          autocomplete="off"
          value={request.context}
          onInput={({ currentTarget }) => setContext(currentTarget.value.toWellFormed())}
        />
        <label class="block">
          Policy{" "}
          <select
            id="meta-policy"
            value={request.policy}
            onChange={({ currentTarget }) => setPolicy(currentTarget.value as MetaRequest["policy"])}
          >
            {POLICIES.map(([key, title]) => (
              <option key={key} value={key}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <label class="block">
          Keys, separated by commas
          <input
            id="meta-keys"
            type="text"
            value={request.keys}
            autocomplete="off"
            spellcheck={false}
            disabled={request.policy !== "allow" && request.policy !== "deny"}
            onInput={({ currentTarget }) => setKeys(currentTarget.value.toWellFormed())}
          />
        </label>
        <label class="block">
          Of these, secrets that may leave (named a second time, so that none leaves by mistake)
          <input
            id="meta-secrets"
            type="text"
            value={request.secrets}
            autocomplete="off"
            spellcheck={false}
            disabled={request.policy !== "allow"}
            onInput={({ currentTarget }) => setSecrets(currentTarget.value.toWellFormed())}
          />
        </label>
        <label class="block">
          Prefix of keys, such as com.example/
          <input
            id="meta-prefix"
            type="text"
            value={request.prefix}
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => setPrefix(currentTarget.value.toWellFormed())}
          />
        </label>
      </section>
      <section class="stack" aria-label="What crosses" aria-live="polite">
        <ProblemBox problem={problem} id="meta-problem" />
        {value && !problem && (
          <div class="stack" id="meta">
            <table>
              <caption>Keys of the context</caption>
              <thead>
                <tr>
                  <th scope="col">Key</th>
                  <th scope="col">Secret</th>
                  <th scope="col">Crosses</th>
                  <th scope="col">Why</th>
                </tr>
              </thead>
              <tbody>
                {value.entries.map(({ key, isSecret, crosses, why }) => (
                  <tr key={key}>
                    <td>
                      <code>{key}</code>
                    </td>
                    <td>{isSecret ? "yes" : "no"}</td>
                    <td>
                      <span class={`badge ${crosses ? (isSecret ? "warning" : "kept") : "stays"}`}>
                        {crosses ? "crosses" : "stays"}
                      </span>
                    </td>
                    <td>{why}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            <h3>
              <code>params._meta</code>
            </h3>
            {value.meta === null ? (
              <Text label="_meta as it crosses">nothing is sent</Text>
            ) : (
              <Json label="_meta as it crosses">{value.meta}</Json>
            )}
            <Warnings title="Warnings" warnings={value.warnings} />
          </div>
        )}
      </section>
    </div>
  );
}
