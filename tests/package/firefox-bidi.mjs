#!/usr/bin/env node
// Firefox for Playwright's WebDriver BiDi: started with the arguments of Playwright, whose messages pass through. Commands that the
// installed release does not know yet are answered with success: Playwright sends them for every page, whether it needs them or not.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { WebSocket, WebSocketServer } from "ws";

const TOO_NEW = new Set(["emulation.setMediaFeaturesOverride"]);

const child = spawn(process.env.CONTEXTWEAVER_TEST_FIREFOX, process.argv.slice(2), { stdio: ["ignore", "inherit", "pipe"] });
child.on("exit", (code) => process.exit(code ?? 1));
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => child.kill(signal));

/** Passes on what one says to the other, until either goes. */
function connect(playwright, address) {
  const browser = new WebSocket(address, { perMessageDeflate: false });
  const isOpen = new Promise((done) => browser.once("open", done));
  playwright.on("message", async (data) => {
    const text = data.toString();
    const { id, method } = JSON.parse(text);
    if (TOO_NEW.has(method)) return playwright.send(JSON.stringify({ type: "success", id, result: {} }));
    await isOpen;
    browser.send(text);
  });
  browser.on("message", (data) => playwright.send(data.toString()));
  browser.on("error", (error) => process.stderr.write(`${error}\n`));
  browser.on("close", () => playwright.close());
  playwright.on("close", () => browser.close());
}

for await (const line of createInterface({ input: child.stderr })) {
  const address = /WebDriver BiDi listening on (ws:\/\/\S+)$/.exec(line)?.[1];
  if (address === undefined) {
    process.stderr.write(`${line}\n`);
    continue;
  }
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  server.on("connection", (playwright, { url }) => connect(playwright, address + url));
  server.on("listening", () => process.stderr.write(`WebDriver BiDi listening on ws://127.0.0.1:${server.address().port}\n`));
}
