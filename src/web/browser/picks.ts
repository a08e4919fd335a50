/* Which rows are selected. */

export const rowsOf = (list: ParentNode): HTMLElement[] => [
  ...list.querySelectorAll<HTMLElement>("[data-row]"),
];

export const pickOf = (row: ParentNode): HTMLInputElement | null =>
  row.querySelector<HTMLInputElement>("input[type=checkbox]");

export const pickedRows = (): HTMLElement[] =>
  rowsOf(document).filter((row) => pickOf(row)?.checked === true);

/** A row may stand for many: its box says for how many. */
const countOf = (row: HTMLElement): number => Number(pickOf(row)?.dataset["many"] ?? 1);

/** Shows how many things are selected, and the bar for what can be done with them. */
export function showPicked(): void {
  const picked = new Set(pickedRows());
  const all = [...picked].reduce((sum, row) => sum + countOf(row), 0);
  for (const row of rowsOf(document)) row.toggleAttribute("data-picked", picked.has(row));
  for (const bar of document.querySelectorAll("[data-selection]")) {
    bar.toggleAttribute("data-some", picked.size > 0);
    const count = bar.querySelector("[data-count]");
    if (count) count.textContent = String(all);
  }
}

export function unpickAll(): void {
  for (const row of pickedRows()) {
    const pick = pickOf(row);
    if (pick) pick.checked = false;
  }
  showPicked();
}

/** Selects from one row to another, both included, in the order of the page. */
export function pickRange(from: HTMLElement, to: HTMLElement): void {
  const rows = rowsOf(document);
  const ends = [rows.indexOf(from), rows.indexOf(to)].sort((a, b) => a - b);
  for (const row of rows.slice(ends[0], (ends[1] ?? 0) + 1)) {
    const pick = pickOf(row);
    if (pick && !pick.disabled) pick.checked = true;
  }
  showPicked();
}
