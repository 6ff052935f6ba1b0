// Assertions for cases that run in every runtime: node:assert exists in only some of them.

/** Thrown by a failed assertion. */
export class AssertionError extends Error {
  name = "AssertionError";
}

const show = (value) => {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
};

function fail(message, detail) {
  throw new AssertionError(message ? `${message}: ${detail}` : detail);
}

function deepEqual(a, b) {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (a instanceof Map) return a.size === b.size && [...a].every(([key, value]) => b.has(key) && deepEqual(value, b.get(key)));
  if (a instanceof Set) return a.size === b.size && [...a].every((value) => b.has(value));
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && deepEqual(a[key], b[key]));
}

/** Runs `{ name: async (...given) => … }` and reports each case: a failure in one does not hide the others. */
export async function runAll(cases, ...given) {
  const results = [];
  for (const [name, run] of Object.entries(cases)) {
    try {
      await run(...given);
      results.push({ name, ok: true });
    } catch (error) {
      results.push({ name, ok: false, error: `${error?.stack ?? error}` });
    }
  }
  return results;
}

/** Like node:assert/strict, reduced to what the cases need. */
export const assert = {
  ok(value, message) {
    if (!value) fail(message, `${show(value)} is not true`);
  },
  equal(actual, expected, message) {
    if (!Object.is(actual, expected)) fail(message, `${show(actual)} is not ${show(expected)}`);
  },
  notEqual(actual, unwanted, message) {
    if (Object.is(actual, unwanted)) fail(message, `${show(actual)} was not wanted`);
  },
  deepEqual(actual, expected, message) {
    if (!deepEqual(actual, expected)) fail(message, `${show(actual)} is not ${show(expected)}`);
  },
  match(text, pattern, message) {
    if (typeof text !== "string" || !pattern.test(text)) fail(message, `${show(text)} does not match ${pattern}`);
  },
  /** `expected`: an object whose properties the error must have, or a function that says whether it is right. */
  throws(action, expected, message) {
    let error;
    try {
      action();
    } catch (thrown) {
      error = thrown;
    }
    checkThrown(error, expected, message);
    return error;
  },
  async rejects(promise, expected, message) {
    let error;
    try {
      await (typeof promise === "function" ? promise() : promise);
    } catch (thrown) {
      error = thrown;
    }
    checkThrown(error, expected, message);
    return error;
  },
};

function checkThrown(error, expected, message) {
  if (error === undefined) fail(message, "nothing was thrown");
  if (typeof expected === "function") {
    if (!expected(error)) fail(message, `another error was expected: ${error}`);
  } else if (expected instanceof RegExp) {
    if (!expected.test(String(error))) fail(message, `${error} does not match ${expected}`);
  } else {
    for (const [key, value] of Object.entries(expected ?? {})) {
      if (!deepEqual(error[key], value)) fail(message, `error.${key} is ${show(error[key])}, not ${show(value)} (${error})`);
    }
  }
}
