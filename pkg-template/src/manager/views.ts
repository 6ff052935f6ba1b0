// The stores of a manager as its owner sees them.
import { encode, fields, rawBytes, text } from "../boundary/guard.js";
import type { ArtifactView, EpisodeView, EventView, FactView } from "./results.js";
import type { OperationName } from "./operations.js";
import type { RunOptions, Session } from "./session.js";

/** What a manager shows of its stores. @internal */
export interface Views {
  readonly events: EventView;
  readonly artifacts: ArtifactView;
  readonly facts: FactView;
  readonly episodes: EpisodeView;
}

/** Makes the views of a session. @internal */
export function views(session: Session): Views {
  const run = <T>(op: OperationName, args: unknown, options?: RunOptions): T =>
    session.run<T>(op, encode(args), options).value;
  const change = (op: OperationName, args: unknown): void => void run(op, args);
  /** One field of an answer. */
  const read = <T>(op: OperationName, args: unknown, key: string): T => run<Record<string, T>>(op, args)[key] as T;
  return {
    events: {
      get: (id) => run("event_get", { id }),
      list: (query) => read("events", fields(query), "items"),
      count: (query) => read("event_count", fields(query), "count"),
      tail: (n) => read("event_tail", { n }, "items"),
      children: (id) => read("event_children", { id }, "items"),
      parent: (id) => read("event_parent", { id }, "item"),
    },
    artifacts: {
      list: () => read("artifacts", {}, "artifacts"),
      ref: (handle) => run("artifact_ref", { handle }),
      exists: (handle) => read("artifact_exists", { handle }, "exists"),
      bytes: (handle) => session.bytes(text(handle, "/handle")),
      views: (handle) => run("artifact_views", { handle }, { uses: handle }),
      put: (artifact) => {
        const { content, ...rest } = fields(artifact);
        return run("put_artifact", rest, { beside: { bytes: [rawBytes(content, "/content")] } });
      },
      delete: (handle) => change("artifact_delete", { handle }),
      pin: (handle) => change("artifact_pin", { handle }),
      unpin: (handle) => change("artifact_unpin", { handle }),
    },
    facts: {
      list: () => read("facts", {}, "facts"),
      get: (id) => run("fact_get", { id }),
      getByKey: (key) => read("fact_get_by_key", { key }, "facts"),
      listKeys: (prefix) => read("fact_list_keys", { prefix }, "keys"),
      put: (fact) => change("fact_put", fact),
      delete: (id) => change("fact_delete", { id }),
    },
    episodes: {
      list: () => read("episodes", {}, "episodes"),
      get: (id) => read("episode_get", { id }, "episode"),
      search: (query, options) => read("episode_search", { ...fields(options), query }, "episodes"),
      latest: (n) => read("episode_latest", { n }, "episodes"),
      delete: (id) => change("episode_delete", { id }),
    },
  };
}
