// What the conformance suite starts as the client: it hands over to the process of the tests, see `conformance.mjs`.
import { request } from "node:http";

const [relay, url] = process.argv.slice(2);
const { MCP_CONFORMANCE_SCENARIO, MCP_CONFORMANCE_PROTOCOL_VERSION, MCP_CONFORMANCE_CONTEXT } = process.env;
const started = {
  scenario: MCP_CONFORMANCE_SCENARIO,
  revision: MCP_CONFORMANCE_PROTOCOL_VERSION,
  url,
  context: MCP_CONFORMANCE_CONTEXT && JSON.parse(MCP_CONFORMANCE_CONTEXT),
};
const sent = request(relay, { method: "POST" }, async (response) => {
  const { failed } = JSON.parse(Buffer.concat(await response.toArray()).toString());
  if (failed) console.error(failed);
  process.exitCode = failed ? 1 : 0;
});
sent.end(JSON.stringify(started));
