import { showNew } from "./lists.ts";
import { pickOf, pickRange, rowsOf, showPicked } from "./picks.ts";
import { refreshSections } from "./refresh.ts";

/* The current row and the selected ones, by pointer and by keys. */

/** Where a range starts: the row that was last selected, by its id. */
let anchor = "";
let current = "";

export function takeRows(): void {
  document.addEventListener("click", (event) => {
    const target = event.target as Element;
    const row = target.closest<HTMLElement>("[data-row]");
    if (row && target === pickOf(row)) {
      const from = document.getElementById(anchor);
      if (event.shiftKey && from && pickOf(row)?.checked) pickRange(from, row);
      anchor = row.id;
      showPicked();
    }
    const section = target.closest("[data-new] button")?.closest("[data-stay]");
    if (section) {
      showNew(section);
      refreshSections([section.id]);
    }
  });
  document.addEventListener("focusin", ({ target }) => {
    const row = (target as Element).closest<HTMLElement>("[data-row]");
    if (row) makeCurrent(row);
  });
  // A browser gives boxes back that were checked before the page was left.
  showPicked();
  // What stands beside the list is where `j` and `k` begin.
  const chosen = document.querySelector<HTMLElement>("[data-row]:has([aria-current])");
  if (chosen) {
    current = chosen.id;
    chosen.scrollIntoView({ block: "nearest" });
  }
}

function makeCurrent(row: HTMLElement): void {
  document.getElementById(current)?.removeAttribute("data-current");
  current = row.id;
  row.setAttribute("data-current", "");
}

export const currentRow = (): HTMLElement | null => document.getElementById(current);

/** Goes so many rows down (or up) and puts the focus there. Returns whether there are rows. */
export function stepRow(by: 1 | -1): boolean {
  const rows = rowsOf(document).filter((row) => row.checkVisibility());
  if (rows.length === 0) return false;
  const at = rows.findIndex(({ id }) => id === current);
  const next = at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by;
  const row = rows[Math.min(rows.length - 1, Math.max(0, next))];
  if (row) {
    makeCurrent(row);
    const link = row.querySelector<HTMLElement>("a[href]") ?? row;
    link.focus();
    row.scrollIntoView({ block: "nearest" });
  }
  return true;
}

/** Selects the current row, or lets it go; `isRange`: all from the one that was selected last. */
export function pickCurrent(isRange: boolean): boolean {
  const row = currentRow();
  const pick = row && pickOf(row);
  if (!row || !pick || pick.disabled) return false;
  const from = document.getElementById(anchor);
  if (isRange && from) pickRange(from, row);
  else pick.checked = !pick.checked;
  anchor = row.id;
  showPicked();
  return true;
}
