// What the tab says of links and outcomes. Maps, as a record may say anything, "constructor" too.

/** How a link reads from its beginning, and from its end. */
const LINKS: ReadonlyMap<string, readonly [outgoing: string, incoming: string]> = new Map([
  ["supersedes", ["replaces", "replaced by"]],
  ["depends_on", ["depends on", "needed by"]],
  ["relates_to", ["related to", "related to"]],
]);

export const linkName = (type: string, isOutgoing = true): string => LINKS.get(type)?.[isOutgoing ? 0 : 1] ?? type;
export const LINK_TYPES = [...LINKS.keys()];
/** The class of a line. */
export const linkClass = (type: string): string => (LINKS.has(type) ? type : "");

/** Words, and the class of the badge. */
const OUTCOMES: ReadonlyMap<string, readonly [name: string, badge: string]> = new Map([
  ["success", ["success", "kept"]],
  ["partial", ["partial success", "summarised"]],
  ["failure", ["failure", "dropped"]],
  ["abandoned", ["given up", "dropped"]],
  ["open", ["no outcome yet", "stays"]],
]);

export const outcomeName = (outcome: string): string => OUTCOMES.get(outcome)?.[0] ?? outcome;
export const outcomeBadge = (outcome: string): string => OUTCOMES.get(outcome)?.[1] ?? "stays";
/** The class of a dot. */
export const outcomeClass = (outcome: string): string => (OUTCOMES.has(outcome) ? outcome : "open");
