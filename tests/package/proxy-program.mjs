// `contextweaver proxy` as a program, and what is said to it byte by byte.
import { spawn } from "node:child_process";
import { connect } from "node:net";
import { join } from "node:path";
import { packageDir } from "./harness.mjs";

export const PROGRAM = join(packageDir, "bin/contextweaver.js");

/** Starts the proxy; `stop` ends it and returns what it has said. */
export async function started(t, args) {
  const child = spawn(process.execPath, [PROGRAM, "proxy", "--port", "0", "--verbose", ...args], { env: { ...process.env, CONTEXTWEAVER_TOKEN: undefined } });
  t.after(() => child.kill("SIGKILL"));
  let [stdout, stderr] = ["", ""];
  child.stderr.on("data", (text) => (stderr += text));
  const address = await new Promise((done, fail) => {
    child.stdout.on("data", (text) => {
      stdout += text;
      const [, found] = /^listening on (\S+)\n/.exec(stdout) ?? [];
      if (found) done(found);
    });
    child.on("close", () => fail(new Error(stderr)));
  });
  const stop = () => new Promise((done) => (child.on("close", (code) => done({ code, stdout, stderr })), child.kill("SIGTERM")));
  return { address, stop };
}

/** What is answered to bytes until the connection ends. */
export const raw = (address, text) =>
  new Promise((done) => {
    const { hostname, port } = new URL(address);
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let said = "";
    socket
      .on("data", (part) => (said += part))
      .on("close", () => done(said))
      .on("error", () => done(said));
  });
