// All items with what became of them, and what they cost.
import type { Phase } from "contextweaver/slim";
import type { JSX } from "preact";
import { ask, useAnswer } from "../shared/ask.ts";
import { List } from "../shared/list.tsx";
import { kindName, number, swatch } from "../shared/parts.tsx";
import type { Filter, Row } from "../worker/rows.ts";
import { DROP_REASONS, STATE, reasonName, reasonShort } from "./words.ts";

export type Shown = Filter;

/** Where what is said of an item stands above the list: a click leads there. */
const NARROW = "(max-width: 47.99rem)";

const SHOWN = ["all", "in", "kept", "summarised", "redacted", "dropped", ...DROP_REASONS];
const SHOWN_NAME: Readonly<Record<string, string>> = {
  all: "all",
  in: "in the prompt",
  kept: "kept whole",
  summarised: "cut",
  redacted: "redacted",
  dropped: "left out",
};
const KINDS = [
  "",
  ...[
    "policy",
    "memory_fact",
    "plan_state",
    "user_turn",
    "agent_msg",
    "tool_call",
    "tool_result",
    "retrieved_doc",
    "doc_snippet",
  ],
] as const;
const HEAD = [
  { title: "Item", class: "c-name" },
  { title: "Kind", class: "c-kind" },
  { title: "Text", class: "c-line" },
  { title: "State", class: "c-state" },
  { title: "Why", class: "c-why" },
  { title: "Tokens", class: "c-number" },
];

interface ItemListProps {
  readonly phase: Phase;
  readonly version: string;
  readonly filter: Shown;
  readonly onFilter: (filter: Shown) => void;
  readonly selected: number;
  readonly onItem: (place: number) => void;
  readonly onEnter: () => void;
}

export function ItemList({
  phase,
  version,
  filter: asked,
  onFilter,
  selected,
  onItem,
  onEnter,
}: ItemListProps): JSX.Element {
  const show = SHOWN.find((each) => each === asked.show) ?? "all";
  const kind = KINDS.find((each) => each === asked.kind) ?? "";
  const filter: Filter = { show, kind, search: asked.search };
  const { value: at = -1 } = useAnswer("context.find", { phase, filter, place: selected }, version);
  return (
    <>
      <Filters filter={filter} onFilter={onFilter} />
      <List<Row>
        label={`Items of the log and what became of them in ${phase}`}
        head={HEAD}
        version={`${version} ${JSON.stringify(filter)}`}
        read={(from, to) => ask("context.rows", { phase, filter, from, to })}
        reveal={at}
        selected={at}
        onSelect={(row) => onItem(row.place)}
        onClick={() => matchMedia(NARROW).matches && onEnter()}
        onEnter={onEnter}
        cells={cellsOf}
        rowClass={({ state }) => (state === "dropped" ? "out" : "")}
        rowHeight={30}
        phoneHeight={76}
        empty="No item is like that."
      />
    </>
  );
}

function cellsOf(row: Row): (string | JSX.Element)[] {
  const { place, label, kind, line, state, tokens } = row;
  return [
    <b title={label}>{label.length > LONG_ID ? `#${place + 1}` : label}</b>,
    <span class={`kind ${swatch(kind)}`}>{kindName(kind)}</span>,
    line,
    <span class={`badge ${state}`}>{STATE[state] ?? state}</span>,
    reasonShort(row),
    tokens === null ? "" : number(tokens),
  ];
}

/** Characters from which ids of providers all look the same in a column: their number in the log tells them apart. */
const LONG_ID = 9;

function Filters({ filter, onFilter }: { filter: Filter; onFilter: (filter: Filter) => void }): JSX.Element {
  return (
    <div class="controls filters">
      <label class="inline">
        Show{" "}
        <select
          id="show"
          value={filter.show}
          onChange={({ currentTarget }) => onFilter({ ...filter, show: currentTarget.value })}
        >
          {SHOWN.map((each) => (
            <option key={each} value={each}>
              {SHOWN_NAME[each] ?? `left out: ${reasonName(each)}`}
            </option>
          ))}
        </select>
      </label>
      <label class="inline">
        Kind{" "}
        <select
          id="kind"
          value={filter.kind}
          onChange={({ currentTarget }) => onFilter({ ...filter, kind: currentTarget.value })}
        >
          {KINDS.map((each) => (
            <option key={each} value={each}>
              {each === "" ? "all" : kindName(each)}
            </option>
          ))}
        </select>
      </label>
      <label class="inline">
        Find{" "}
        <input
          id="search"
          type="search"
          maxlength={200}
          autocomplete="off"
          spellcheck={false}
          value={filter.search}
          onInput={({ currentTarget: { value } }) => onFilter({ ...filter, search: value.toWellFormed() })}
        />
      </label>
    </div>
  );
}
