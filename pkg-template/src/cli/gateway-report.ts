// What the gateway says of its servers and of what it has counted, for a terminal.
import type { GatewayServerEvent } from "../gateway/gateway.js";
import type { GatewayStats } from "../gateway/runtime-types.js";
import { safe } from "./print.js";
import type { Paint } from "./print.js";

/** One line about a server that has come or gone; nothing for what is no news. */
export function serverLine({ server, status, detail, report }: GatewayServerEvent, paint: Paint, ms: number): string | undefined {
  const name = safe(server);
  if (report) {
    const { tools, tokens, resources, prompts, quarantined, skipped } = report;
    const less = [
      ...(quarantined.length > 0 ? [`${quarantined.length} in quarantine: ${quarantined.map((tool) => tool.name).join(", ")}`] : []),
      ...(skipped.length > 0 ? [`${skipped.length} left out`] : []),
    ].map((text) => `; ${text}`);
    return `  ${paint("ok", "green")} ${name}: ${tools} tools (${tokens} tokens), ${resources} resources, ${prompts} prompts, ${(ms / 1000).toFixed(1)} s${safe(less.join(""))}`;
  }
  return status === "unavailable" ? `  ${paint("--", "red")} ${name}: ${safe(detail ?? "unavailable")}` : undefined;
}

/** What a gateway has counted. */
export function statsText(stats: GatewayStats, _paint: Paint): string {
  return JSON.stringify(stats);
}
