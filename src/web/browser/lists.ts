import { pickedRows, pickOf, rowsOf } from "./picks.ts";
import { mergeRows } from "./rows.ts";

/* Lists that stay under the finger while what they show changes. */

/** Sections whose new rows somebody asked to see. */
const showing = new Set<string>();

/** From here on the next answer of this section brings its new rows. */
export const showNew = (section: Element): void => void showing.add(section.id);
export const isShowingNew = (id: string): boolean => showing.has(id);

/** So many rows a request names, that its head stays small. */
const MOST_NAMED = 200;

/** The rows that are shown in lists that stay, and what a section says that it has seen, for the box to say what isn't shown. */
export function shownRows(sections: readonly Element[]): string {
  const seen = sections.flatMap((section) => {
    const mark = section.querySelector<HTMLElement>("[data-seen]")?.dataset["seen"];
    return mark === undefined ? [] : [mark];
  });
  const ids = sections
    .filter((section) => section.hasAttribute("data-stay"))
    .flatMap((section) => rowsOf(section).map(drawnRow));
  return [...seen, ...ids].slice(0, MOST_NAMED).join(",");
}

/** Its id, with how the box drew it: of a row that is still drawn so it sends only the place. */
const drawnRow = ({ id, dataset: { row } }: HTMLElement): string => (row ? `${id}.${row}` : id);

/** Below this the list counts as scrolled to the top, in pixels. */
const TOP = 8;

/** Prepares what the box drew for the section that stands: its rows' order, those that left, what is selected. */
export function arrangeRows(section: Element, fresh: Element): void {
  if (section.hasAttribute("data-stay")) stay(section, fresh);
  for (const row of rowsOf(section)) {
    if (!pickOf(row)?.checked) continue;
    const pick = pickOf(
      fresh.querySelector(`#${CSS.escape(row.id)}`) ?? document.createElement("p"),
    );
    if (pick) pick.defaultChecked = true;
  }
}

function stay(section: Element, fresh: Element): void {
  const list = section.querySelector("[data-list]");
  const shown = rowsOf(section);
  if (list === null || shown.length === 0) return;
  const freshList = fresh.querySelector("[data-list]") ?? emptyList(list, fresh);
  const byId = new Map(rowsOf(fresh).map((row) => [row.id, row]));
  const pane = section.closest(".pane") ?? document.documentElement;
  const isAtTop = pane.scrollTop < TOP && pickedRows().length === 0;
  const goes = new Set([...byId].filter(([, row]) => "gone" in row.dataset).map(([id]) => id));
  const { order, gone, held } = mergeRows(
    shown.map(({ id }) => id),
    [...byId.keys()],
    {
      takesNew: isAtTop || showing.delete(section.id),
      goes,
      hasMore: freshList.hasAttribute("data-more"),
    },
  );
  const old = new Map(shown.map((row) => [row.id, row]));
  freshList.replaceChildren(
    ...order.flatMap((id) => {
      // Without its content: it stays as it is.
      const row = byId.get(id) ?? old.get(id)?.cloneNode();
      if (!(row instanceof HTMLElement)) return [];
      row.toggleAttribute("data-gone", gone.has(id));
      return [row];
    }),
  );
  // Where the box drew as many as it draws, there may be more than these.
  const isFull = held.length + goes.size === byId.size && freshList.hasAttribute("data-more");
  sayNew(fresh, held.length, isFull);
}

/** Where nothing is left to list, what left is still shown. */
function emptyList(list: Element, fresh: Element): Element {
  const empty = list.cloneNode(false) as Element;
  fresh.append(empty);
  return empty;
}

function sayNew(fresh: Element, count: number, isFull: boolean): void {
  const line = fresh.querySelector<HTMLElement>("[data-new]");
  const button = line?.querySelector("button");
  if (!line || !button) return;
  line.dataset["new"] = count > 0 ? String(count) : "";
  button.textContent = count > 0 ? `${count}${isFull ? " or more" : ""} new · Show` : "";
}
