// The graph over the tools as a tree, a page of children at a time.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../shared/ask.ts";
import { count } from "../shared/parts.tsx";
import type { Branch } from "../worker/tools.ts";

interface TreeProps {
  readonly version: number;
  readonly selected: number;
  readonly onTool: (place: number) => void;
  /** What is shown below the chosen tool, where there is no room beside the tree. */
  readonly details: JSX.Element | null;
}

export function Tree({ version, selected, onTool, details }: TreeProps): JSX.Element {
  const [root, setRoot] = useState<Branch>();
  const tree = useRef<HTMLUListElement>(null);
  useEffect(() => {
    setRoot(undefined);
    void ask("tools.browse", { node: null, offset: 0 }).then(setRoot);
  }, [version]);
  const onKey = (event: KeyboardEvent): void => {
    const items = [...(tree.current?.querySelectorAll<HTMLElement>("[role=treeitem]") ?? [])];
    const focused = document.activeElement as HTMLElement;
    const at = items.indexOf(focused);
    if (at < 0) return;
    const expanded = focused.getAttribute("aria-expanded");
    const go = (item: Element | null | undefined): void => (item as HTMLElement | null)?.focus();
    const actions: Record<string, () => void> = {
      ArrowDown: () => go(items[at + 1]),
      ArrowUp: () => go(items[at - 1]),
      Home: () => go(items[0]),
      End: () => go(items.at(-1)),
      ArrowRight: () => (expanded === "false" ? focused.click() : go(focused.querySelector("[role=treeitem]"))),
      ArrowLeft: () => (expanded === "true" ? focused.click() : go(focused.parentElement?.closest("[role=treeitem]"))),
      Enter: () => focused.click(),
      " ": () => focused.click(),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };
  return (
    <div class="stack">
      <p class="quiet small">
        The same tools in groups of a bounded size, by server and name: what a model or a person goes through who has no
        words for a query yet. Arrow keys move.
      </p>
      <ul role="tree" aria-label="Tools in groups" class="tree" ref={tree} onKeyDown={onKey} aria-busy={!root}>
        {root && <Children branch={root} node={null} selected={selected} onTool={onTool} details={details} isFirst />}
      </ul>
    </div>
  );
}

interface ChildrenProps {
  readonly branch: Branch;
  readonly node: number | null;
  readonly selected: number;
  readonly onTool: (place: number) => void;
  readonly details: JSX.Element | null;
  readonly isFirst?: boolean;
}

function Children({ branch, node, selected, onTool, details, isFirst = false }: ChildrenProps): JSX.Element {
  const [more, setMore] = useState<readonly Branch[]>([]);
  const branches = [branch, ...more];
  const next = branches.at(-1)?.next ?? null;
  return (
    <>
      {branches
        .flatMap(({ children }) => children)
        .map((child, at) =>
          child.node !== null ? (
            <Group
              key={`n${child.node}`}
              label={child.label}
              names={child.names}
              items={child.items}
              node={child.node}
              selected={selected}
              onTool={onTool}
              details={details}
              isFirst={isFirst && at === 0}
            />
          ) : (
            <li
              key={`t${child.place}`}
              role="treeitem"
              aria-selected={child.place === selected}
              tabIndex={isFirst && at === 0 ? 0 : -1}
              class="leaf"
              onClick={(event) => {
                event.stopPropagation();
                if (child.place !== null) onTool(child.place);
              }}
            >
              <span>{child.label}</span>
              {child.place === selected && details && (
                // What is pressed in the details is nothing that the tree is asked for.
                <div
                  role="none"
                  onClick={(event) => event.stopPropagation()}
                  onKeyDown={(event) => event.stopPropagation()}
                >
                  {details}
                </div>
              )}
            </li>
          ),
        )}
      {next !== null && (
        <li
          role="treeitem"
          aria-selected={false}
          tabIndex={-1}
          class="leaf"
          onClick={(event) => {
            event.stopPropagation();
            void ask("tools.browse", { node, offset: next }).then((page) => setMore((before) => [...before, page]));
          }}
        >
          <span class="quiet">more</span>
        </li>
      )}
    </>
  );
}

interface GroupProps extends Omit<ChildrenProps, "branch" | "node"> {
  readonly label: string;
  readonly names: readonly string[];
  readonly items: number;
  readonly node: number;
}

function Group({ label, names, items, node, selected, onTool, details, isFirst = false }: GroupProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const [branch, setBranch] = useState<Branch>();
  const toggle = (event: MouseEvent): void => {
    event.stopPropagation();
    if (!branch) void ask("tools.browse", { node, offset: 0 }).then(setBranch);
    setOpen(!isOpen);
  };
  return (
    <li
      role="treeitem"
      aria-expanded={isOpen}
      aria-selected={false}
      tabIndex={isFirst ? 0 : -1}
      class="group"
      onClick={toggle}
    >
      <span>
        <b>{label}</b>{" "}
        <span class="quiet small">
          {count(items, "tool")}: {names.join(", ")}
          {items > names.length && ", …"}
        </span>
      </span>
      {isOpen && branch && (
        <ul role="group">
          <Children branch={branch} node={node} selected={selected} onTool={onTool} details={details} />
        </ul>
      )}
    </li>
  );
}
