// Agents that speak A2A, by their cards: versions 0.3 and 1.0 of the protocol.
import {
  Reading,
  addressOf,
  callableName,
  plainCopy,
  recordOf,
  refused,
  schemeOf,
  securityOf,
  stringOf,
  stringsOf,
} from "./document-tools.js";
import { ContextWeaverError } from "../boundary/errors.js";
import { MAX_ITEMS } from "../boundary/guard-limits.js";
import type { ReadTools } from "./tool-sources.js";
import type { JsonObject, SelectableItem } from "../types.js";

/** Skills of one card. */
const MAX_SKILLS = 256;
/** Examples of one card. */
const MAX_EXAMPLES = 16;
/** Characters that a skill adds to what the agent says of itself. */
const MAX_SAID = 400;

/** Reads a card, or a list of them. @internal */
export function readAgentCards(given: unknown, options: unknown): ReadTools {
  const reading = new Reading("agent", options);
  const data = plainCopy(given, "an agent card, or a list of them", reading);
  const isList = Array.isArray(data);
  const cards: readonly unknown[] = isList ? data : [data];
  if (cards.length > MAX_ITEMS) throw new ContextWeaverError("TOO_LARGE", `more than ${MAX_ITEMS} cards`);
  for (const [index, card] of cards.entries()) {
    const path = isList ? `/${index}` : "";
    reading.each({ index, path }, () => reading.add(agentOf(card, path, reading), { index, path }));
  }
  return reading.done;
}

function agentOf(given: unknown, at: string, reading: Reading): SelectableItem {
  const card = recordOf(given);
  if (!card) throw refused("expected an agent card", at);
  const title = stringOf(card["name"]);
  if (title === undefined)
    throw new ContextWeaverError("MISSING_FIELD", "missing field `name`", { path: `${at}/name` });
  const name = callableName(title.toLowerCase());
  const id = reading.idOf(name || title);
  const note = (code: string, path: string, message: string, severity: "warning" | "info" = "warning"): void =>
    reading.note({ code, path: `${at}${path}`, message, severity }, id);
  if (!id.endsWith(name || title))
    note("agent-duplicate", "/name", "another agent has this name; a number makes the id unique");
  if (stringOf(card["description"]) === undefined)
    note("agent-description", "/description", "the card does not say what the agent does");
  const skills = skillsOf(card, note);
  const interfaces = interfacesOf(card, note);
  if (Array.isArray(card["signatures"]))
    note("agent-signature", "/signatures", "signatures are not checked here", "info");
  const said = skills.map(({ name: of, description }) =>
    [of, description].filter(Boolean).join(": ").slice(0, MAX_SAID),
  );
  const provider = recordOf(card["provider"]);
  const version = stringOf(card["version"]);
  const documentation = addressOf(card["documentationUrl"])?.address;
  return {
    id,
    kind: "agent",
    name: name || title,
    ...(title !== name && { title }),
    // An agent is asked for what its skills say; there is no call of a skill.
    description: [stringOf(card["description"]) ?? "", ...said.map((text) => `- ${text}`)].filter(Boolean).join("\n"),
    tags: [...new Set(skills.flatMap(({ tags }) => stringsOf(tags)))].slice(0, MAX_SKILLS),
    examples: skills.flatMap(({ examples }) => stringsOf(examples)).slice(0, MAX_EXAMPLES),
    side_effects: true,
    metadata: {
      a2a: {
        ...(version !== undefined && { version }),
        ...(stringOf(provider?.["organization"]) !== undefined && { provider: provider?.["organization"] as string }),
        ...(documentation !== undefined && { documentation }),
        interfaces,
        capabilities: capabilitiesOf(card),
        input_modes: stringsOf(card["defaultInputModes"]),
        output_modes: stringsOf(card["defaultOutputModes"]),
        security: securityOf(card["securityRequirements"] ?? card["security"], recordOf(card["securitySchemes"])),
        security_schemes: Object.entries(recordOf(card["securitySchemes"]) ?? {})
          .slice(0, 64)
          .map(([scheme, how]): JsonObject => ({ id: scheme, ...schemeOf(recordOf(how)) })),
        skills,
      },
    },
  };
}

type Note = (code: string, path: string, message: string, severity?: "warning" | "info") => void;

/** What each skill says of itself. */
function skillsOf(
  card: JsonObject,
  note: Note,
): { id: string; name: string; description: string; tags: string[]; examples: string[] }[] {
  const { skills } = card;
  if (!Array.isArray(skills) || skills.length === 0) {
    note("agent-skills", "/skills", "the card names no skills");
    return [];
  }
  if (skills.length > MAX_SKILLS)
    note("agent-skills", "/skills", `of ${skills.length} skills the first ${MAX_SKILLS} are read`);
  return skills.slice(0, MAX_SKILLS).flatMap((one: unknown, index) => {
    const skill = recordOf(one);
    const name = stringOf(skill?.["name"]) ?? stringOf(skill?.["id"]);
    if (!skill || name === undefined) {
      note("agent-skill", `/skills/${index}`, "expected a skill with a name; it is left out");
      return [];
    }
    return [
      {
        id: stringOf(skill["id"]) ?? name,
        name,
        description: stringOf(skill["description"]) ?? "",
        tags: stringsOf(skill["tags"]),
        examples: stringsOf(skill["examples"]),
      },
    ];
  });
}

/** Where the agent is reached, the preferred first. */
function interfacesOf(card: JsonObject, note: Note): JsonObject[] {
  const { supportedInterfaces, additionalInterfaces, url, preferredTransport, protocolVersion } = card;
  const first = stringOf(url) === undefined ? [] : [{ url, transport: stringOf(preferredTransport) ?? "JSONRPC" }];
  const given: unknown[] = Array.isArray(supportedInterfaces)
    ? supportedInterfaces
    : [...first, ...(Array.isArray(additionalInterfaces) ? additionalInterfaces : [])];
  let isCut = false;
  const known = new Set<string>();
  const interfaces = given.slice(0, 64).flatMap((one): JsonObject[] => {
    const from = recordOf(one) ?? {};
    const at = addressOf(from["url"]);
    const binding = stringOf(from["protocolBinding"]) ?? stringOf(from["transport"]);
    const version = stringOf(from["protocolVersion"]) ?? stringOf(protocolVersion);
    if (!at || known.has(`${binding} ${at.address}`)) return [];
    known.add(`${binding} ${at.address}`);
    isCut ||= at.isCut;
    return [
      {
        url: at.address,
        ...(binding !== undefined && { binding }),
        ...(version !== undefined && { protocol_version: version }),
      },
    ];
  });
  if (isCut) note("agent-address", "", "an address names a user or a query, which is left out");
  if (interfaces.length === 0)
    note("agent-interface", "/supportedInterfaces", "the card does not say where the agent is reached");
  return interfaces;
}

/** What the agent can do beside answering, by name. */
function capabilitiesOf(card: JsonObject): string[] {
  const capabilities = recordOf(card["capabilities"]) ?? {};
  const names = ["streaming", "pushNotifications", "stateTransitionHistory", "extendedAgentCard"].filter(
    (name) => capabilities[name] === true,
  );
  return card["supportsAuthenticatedExtendedCard"] === true ? [...names, "extendedAgentCard"] : names;
}
