import { openDialog } from "./dialog.ts";

/** The script's own keys, as they are told. */
const OWN_KEYS: readonly (readonly [key: string, what: string])[] = [
  ["?", "All keys"],
  ["Ctrl K", "Find anything"],
];
const ROW_KEYS: readonly (readonly [key: string, what: string])[] = [
  ["j", "Next row"],
  ["k", "Previous row"],
  ["Enter", "Open the row"],
  ["x", "Select the row"],
  ["X", "Select from the last one to here"],
  ["Escape", "Close, deselect, back"],
];

/** Every key of this page, each once: what the page's things are called is what they do. */
export function showKeys(): boolean {
  const found = new Map<string, string>(OWN_KEYS);
  if (document.querySelector("[data-row]"))
    for (const [key, what] of ROW_KEYS) found.set(key, what);
  for (const element of document.querySelectorAll<HTMLElement>("[data-key]")) {
    const key = element.dataset["key"] ?? "";
    if (!found.has(key)) found.set(key, nameOfThing(element, key));
  }
  const list = document.createElement("dl");
  list.className = "facts";
  for (const [key, what] of found) list.append(pair(key, what));
  openDialog("Keys", list);
  return true;
}

function nameOfThing(element: HTMLElement, key: string): string {
  const label = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : null;
  const name =
    element.getAttribute("aria-label") ??
    label ??
    (element.textContent.trim() || element.title || element.getAttribute("placeholder"));
  return (name ?? "").replace(` (${key})`, "").replace(/\s+/g, " ").trim();
}

function pair(key: string, what: string): HTMLElement {
  const line = document.createElement("div");
  const term = document.createElement("dt");
  for (const [at, part] of key.split(" ").entries()) {
    const cap = document.createElement("kbd");
    cap.textContent = part;
    term.append(at > 0 ? " " : "", cap);
  }
  const meaning = document.createElement("dd");
  meaning.textContent = what;
  line.append(term, meaning);
  return line;
}
