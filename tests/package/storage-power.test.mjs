// Power that fails while sessions are written to files: what was not flushed to the disk may be lost, whole or in part, names and
// bytes. What was acknowledged is there all the same.
import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { long, packageDir } from "./harness.mjs";
import { random } from "./storage-contract.mjs";

const { fileStore } = await import(pathToFileURL(join(packageDir, "dist", "node.js")));

const RUNS = long ? 20_000 : 500;
const failure = (code) => Object.assign(new Error(code), { code });

/** A disk, with what was flushed to it of each file and of each folder. */
class Disk {
  constructor(root = folder()) {
    this.root = root;
    this.steps = Infinity;
  }

  #step() {
    if ((this.steps -= 1) < 0) throw new Error("no power");
  }

  #at(path) {
    let node = this.root;
    for (const name of path.split("/")) {
      if (name === "..") node = node.parent;
      else if (name !== "") node = node?.entries?.get(name);
      if (!node) throw failure("ENOENT");
    }
    return node;
  }

  #place(path) {
    const at = path.lastIndexOf("/");
    return [this.#at(path.slice(0, at)), path.slice(at + 1)];
  }

  async open(path, flags) {
    this.#step();
    let node;
    if (flags === "r") node = this.#at(path);
    else {
      const [parent, name] = this.#place(path);
      node = parent.entries.get(name);
      if (node && flags === "wx") throw failure("EEXIST");
      if (!node) set(parent, name, (node = { data: Buffer.alloc(0), synced: 0 }));
    }
    return {
      read: async (buffer, offset, length, position) => ({ bytesRead: node.data.copy(buffer, offset, position, position + length) }),
      write: async (buffer, offset, length) => {
        const isCut = this.steps < 1;
        const part = Buffer.from(buffer.subarray(offset, offset + (isCut ? Math.floor(length / 2) : length)));
        node.data = Buffer.concat([node.data, part]);
        this.#step();
        return { bytesWritten: length };
      },
      stat: async () => ({ size: node.data.length, mtimeMs: 0 }),
      sync: async () => {
        this.#step();
        if (node.entries) [node.flushed, node.log] = [new Map(node.entries), []];
        else node.synced = node.data.length;
      },
      close: async () => {},
    };
  }

  async mkdir(path) {
    this.#step();
    let made;
    let node = this.root;
    let way = "";
    for (const name of path.split("/").filter(Boolean)) {
      way += `/${name}`;
      if (!node.entries.has(name)) {
        made ??= way;
        set(node, name, folder(node));
      }
      node = node.entries.get(name);
    }
    return made;
  }

  async readdir(path) {
    this.#step();
    return [...this.#at(path).entries.keys()];
  }

  async rename(from, to) {
    this.#step();
    const [parent, name] = this.#place(from);
    const [target, next] = this.#place(to);
    const node = parent.entries.get(name);
    if (!node) throw failure("ENOENT");
    assert.equal(parent, target, "only names within a folder change in one step");
    change(parent, (entries) => {
      entries.delete(name);
      entries.set(next, node);
    });
  }

  async rm(path) {
    this.#step();
    const [parent, name] = this.#place(path);
    change(parent, (entries) => entries.delete(name));
  }

  async stat(path) {
    this.#step();
    return { size: this.#at(path).data.length };
  }

  /** The disk as it may be when power is back: of each folder some of the last changes are missing, of each file some of its end. */
  afterwards(draw) {
    const kept = (node, parent) => {
      if (!node.entries) {
        const length = node.synced + Math.floor(draw() * (node.data.length - node.synced + 1));
        const data = Buffer.from(node.data.subarray(0, length));
        // The size may have come to the disk, and the bytes not.
        if (draw() < 0.3) data.fill(0, node.synced);
        return { data, synced: length };
      }
      const entries = new Map(node.flushed);
      const count = Math.floor(draw() * (node.log.length + 1));
      for (const apply of node.log.slice(0, count)) apply(entries);
      const copy = folder(parent);
      copy.entries = new Map([...entries].map(([name, child]) => [name, kept(child, copy)]));
      copy.flushed = new Map(copy.entries);
      return copy;
    };
    return new Disk(kept(this.root));
  }
}

function folder(parent) {
  return { entries: new Map(), flushed: new Map(), log: [], parent };
}

function change(node, apply) {
  apply(node.entries);
  node.log.push(apply);
}

function set(node, name, child) {
  change(node, (entries) => entries.set(name, child));
}

async function sha256(bytes) {
  return Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
}

const BLOBS = await Promise.all(
  ["one", "two", "three"].map(async (text) => ({ data: Buffer.from(text.repeat(50)), hash: await sha256(Buffer.from(text.repeat(50))) })),
);

/** Changes a session until there is no power, and returns the states that it may be in. */
async function changed(session, state, draw) {
  for (let n = 0; ; n += 1) {
    const next = state.first + state.parts.length;
    const parts = Array.from({ length: 1 + Math.floor(draw() * 3) }, (_, at) => JSON.stringify({ n, at, text: "word ".repeat(draw() * 100) }));
    const roll = draw();
    let after;
    let running;
    if (roll < 0.5) {
      after = { ...state, parts: [...state.parts, ...parts] };
      running = session.append(next, parts);
    } else if (roll < 0.75) {
      const { hash, data } = BLOBS[Math.floor(draw() * BLOBS.length)];
      after = { ...state, blobs: [...new Set([...state.blobs, hash])] };
      running = session.putBlob(hash, data);
    } else if (roll < 0.95) {
      const blobs = state.blobs.filter(() => draw() < 0.5);
      after = { first: next, parts, blobs };
      running = session.compact(next, parts, blobs);
    } else {
      after = { first: 0, parts: [], blobs: [] };
      running = session.delete();
    }
    try {
      await running;
    } catch (error) {
      assert.equal(error.message, "no power", error.stack);
      return [state, after];
    }
    state = after;
  }
}

async function found(session) {
  const { first, parts } = await session.load();
  const blobs = [];
  for (const { hash } of BLOBS) if (await session.getBlob(hash)) blobs.push(hash);
  return { first, parts, blobs };
}

test(`what was acknowledged is there after ${RUNS} failures of power`, async (t) => {
  let done = 0;
  for (let seed = 1; seed <= RUNS; seed += 1) {
    const draw = random(seed);
    let disk = new Disk();
    let state = { first: 0, parts: [], blobs: [] };
    for (let failures = 0; failures < 4; failures += 1) {
      const session = fileStore("/sessions", disk).session("s");
      disk.steps = Math.floor(draw() * 60);
      const [before, after] = await changed(session, state, draw);
      disk = disk.afterwards(draw);
      const now = await found(fileStore("/sessions", disk).session("s"));
      const is = ({ first, parts, blobs }) =>
        JSON.stringify([first, parts]) === JSON.stringify([now.first, now.parts]) && blobs.every((hash) => now.blobs.includes(hash));
      if (is(after)) done += 1;
      assert.ok(is(before) || is(after), `failure ${failures} of run ${seed}: ${JSON.stringify({ now, before, after })}`);
      state = now;
    }
  }
  t.diagnostic(`${RUNS * 4} failures, after ${done} of which the last change was done`);
  assert.ok(done > 0 && done < RUNS * 4, String(done));
});
