// Parts of engines that stop at any step, and one in memory. Only the language itself may be used here: it runs in Workers, too.

/** What runs for so many steps, and then no more. */
export function clockwork(steps) {
  let left = steps;
  return (step) => {
    if (left <= 0) throw new Error("out of order");
    left -= 1;
    return step();
  };
}

/** A database of which everything fails after so many statements; an end of the process would undo what is open. */
export function brokenDatabase(database, step) {
  return {
    exec: (sql) => (sql === "ROLLBACK" ? database.exec(sql) : step(() => database.exec(sql))),
    prepare: (sql) => {
      const statement = database.prepare(sql);
      return { all: (...values) => step(() => statement.all(...values)), run: (...values) => step(() => statement.run(...values)) };
    },
  };
}

/** The same of blobs. `isDone`: what fails was done, and nobody heard of it. */
export function brokenBlobs(blobs, step, isDone) {
  const failing =
    (method) =>
    async (...args) => {
      try {
        return await step(() => blobs[method](...args));
      } catch (error) {
        if (isDone) await blobs[method](...args);
        throw error;
      }
    };
  return Object.fromEntries(["put", "get", "delete", "list"].map((name) => [name, failing(name)]));
}

/** Blobs in a map. */
export function mapBlobs() {
  const kept = new Map();
  return {
    kept,
    put: async (key, bytes) => void kept.set(key, bytes.slice()),
    get: async (key) => kept.get(key)?.slice(),
    delete: async (keys) => keys.forEach((key) => kept.delete(key)),
    list: async (prefix) => [...kept.keys()].filter((key) => key.startsWith(prefix)),
  };
}

/** A session over blobs of which a method waits until it is released. */
export function slowed(blobs, method, open) {
  let arrive;
  let release;
  let calls = 0;
  const arrived = new Promise((done) => (arrive = done));
  const gate = new Promise((done) => (release = done));
  const slow = async (...args) => {
    calls += 1;
    arrive();
    await gate;
    await blobs[method](...args);
  };
  return { session: open({ ...blobs, [method]: slow }), arrived, release, calls: () => calls };
}

/** Makes engines in memory. */
export const memoryEngines = (memoryStore) => () => {
  const store = memoryStore({ clock: Date.now });
  const session = (id) => store.session(id);
  return { session, other: session, store: () => store };
};
