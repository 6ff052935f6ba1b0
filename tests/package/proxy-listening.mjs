// A scripted provider as a server on this machine, for programs.
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { scriptedProvider } from "./proxy-provider.mjs";

/** A provider that listens: what it was sent, and its address. `extra` may answer in its place, `around` stands before it. */
export async function listening(t, next, extra = () => undefined, around = (answer) => answer) {
  const provider = scriptedProvider(next);
  const answer = around(provider.answer);
  const server = createServer(async (incoming, outgoing) => {
    const parts = [];
    for await (const part of incoming) parts.push(part);
    const request = new Request(`http://provider${incoming.url}`, {
      method: incoming.method,
      headers: Object.entries(incoming.headers),
      ...(incoming.method === "POST" && { body: Buffer.concat(parts) }),
    });
    const response = extra(incoming) ?? (await answer(request));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    // A client that hangs up cancels the answer.
    if (response.body) await pipeline(Readable.fromWeb(response.body), outgoing).catch(() => outgoing.destroy());
    else outgoing.end();
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => (server.closeAllConnections(), server.close()));
  return { ...provider, address: `http://127.0.0.1:${server.address().port}` };
}
