// Workers in miniflare, as wrangler deploys them, and again with what they have stored.
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "./harness.mjs";
import { bundleWorker } from "./workerd-bundle.mjs";

/** What a wrangler.jsonc says: the file to start with, and the options of miniflare. */
export function configOf(text) {
  const {
    main,
    compatibility_date: compatibilityDate,
    compatibility_flags: compatibilityFlags = [],
    vars: bindings = {},
    ...config
  } = JSON.parse(text.replace(/,(\s*[}\]])/g, "$1"));
  const sqlite = config.migrations.flatMap(({ new_sqlite_classes }) => new_sqlite_classes);
  const durableObjects = Object.fromEntries(
    config.durable_objects.bindings.map(({ name, class_name: className }) => [name, { className, useSQLite: sqlite.includes(className) }]),
  );
  return { main, options: { compatibilityDate, compatibilityFlags, durableObjects, r2Buckets: config.r2_buckets.map(({ binding }) => binding), bindings } };
}

/** Starts a Worker, and again with what it has stored. */
export async function deployed(t, entry, options) {
  const { Miniflare } = await import("miniflare");
  const modules = await bundleWorker(entry);
  const persist = await temporaryFolder("worker");
  const make = () =>
    new Miniflare({ modules, modulesRoot: "/", durableObjectsPersist: join(persist, "objects"), r2Persist: join(persist, "blobs"), ...options });
  const running = { worker: make() };
  t.after(async () => {
    await running.worker.dispose();
    await rm(persist, { recursive: true, force: true });
  });
  return {
    script: modules[0].contents,
    restart: async () => {
      await running.worker.dispose();
      running.worker = make();
    },
    fetch: ({ url, method, headers, body, signal }) => running.worker.dispatchFetch(url, { method, headers, signal, ...(body && { body, duplex: "half" }) }),
    get: (path, headers = {}) => running.worker.dispatchFetch(`http://localhost${path}`, { headers }),
    ask: (path, init) => running.worker.dispatchFetch(`http://localhost${path}`, init),
    /** Names the objects that have stored something. */
    objects: async () => (await readdir(join(persist, "objects"), { recursive: true })).filter((file) => /[0-9a-f]{64}\.sqlite$/.test(file)),
  };
}
