import { showKeys } from "./key-list.ts";
import { isLetterKey, nextPress, pressName } from "./keymap.ts";
import { closeMenus } from "./menus.ts";
import { areLettersKeys, firstVisible } from "./page.ts";
import { togglePalette } from "./palette.ts";
import { pickedRows, unpickAll } from "./picks.ts";
import { currentRow, pickCurrent, stepRow } from "./select.ts";

/* Keys: each of the page's things names its own by `data-key`, these are the script's. */

/** After this the first key of two is forgotten, milliseconds. */
const PAIR_MS = 1_500;

/** Returns whether it did something. */
const OWN: Readonly<Record<string, () => boolean>> = {
  j: () => stepRow(1),
  k: () => stepRow(-1),
  x: () => pickCurrent(false),
  X: () => pickCurrent(true),
  "?": () => showKeys(),
  "Ctrl K": () => togglePalette(),
  Escape: () => leave(),
};

let begun: { name: string; at: number } | null = null;

export function takeKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const name = pressName(event);
    if (name === null || (event.repeat && name !== "j" && name !== "k")) return;
    if (!mayBeKey(name, event.target as Element)) return;
    const first = begun !== null && event.timeStamp - begun.at < PAIR_MS ? begun.name : null;
    const next = nextPress(first, name, knownKeys());
    begun = next.begun === null ? null : { name: next.begun, at: event.timeStamp };
    if (next.does !== null && isDone(next.does)) event.preventDefault();
  });
}

const FIELD =
  "textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=button], [type=submit])";

/** In fields only what has Ctrl, and the way out; letters where they aren't turned off. */
function mayBeKey(name: string, target: Element): boolean {
  if (document.querySelector("dialog[open]")) return name === "Ctrl K";
  if (target.matches(FIELD)) return name.startsWith("Ctrl ") || name === "Escape";
  return areLettersKeys() || !isLetterKey(name);
}

const keyed = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>("[data-key]")];

function knownKeys(): Set<string> {
  return new Set([...Object.keys(OWN), ...keyed().map(({ dataset }) => dataset["key"] ?? "")]);
}

function isDone(name: string): boolean {
  if (OWN[name]?.()) return true;
  const element = elementFor(keyed().filter(({ dataset }) => dataset["key"] === name));
  if (!element) return false;
  press(element);
  return true;
}

/**
 * Of several with one key: the selection's while there is one, the current row's, else one outside of rows, the page's own
 * before what stands on every page.
 */
function elementFor(all: readonly HTMLElement[]): HTMLElement | undefined {
  const row = currentRow();
  const inSelection = all.filter((element) => element.closest("[data-selection]"));
  const chosen = pickedRows().length > 0 ? firstVisible(inSelection) : undefined;
  const loose = all.filter((element) => !element.closest("[data-row], [data-selection]"));
  return (
    chosen ??
    firstVisible(all.filter((element) => row?.contains(element))) ??
    firstVisible(loose.filter((element) => element.closest(".main"))) ??
    firstVisible(loose)
  );
}

function press(element: HTMLElement): void {
  if (!element.matches("input:not([type=checkbox], [type=radio]), textarea, select")) {
    element.click();
    // A menu that a key opened goes on by keys: its main button is next.
    if (element.localName === "summary")
      element.parentElement?.querySelector<HTMLElement>("[data-first]")?.focus();
    return;
  }
  element.focus();
  if (element instanceof HTMLInputElement) element.select();
}

/** Closes, deselects, leaves a field; what is left over is the page's own (`data-key="Escape"`: back to the list). */
function leave(): boolean {
  if (closeMenus()) return true;
  const shown = document.querySelector<HTMLElement>(":popover-open");
  shown?.hidePopover();
  if (shown !== null) return true;
  const at = document.activeElement;
  if (at instanceof HTMLElement && at.matches(FIELD)) {
    at.blur();
    return true;
  }
  if (pickedRows().length === 0) return false;
  unpickAll();
  return true;
}
