import { askPage, isMarkup } from "./ask.ts";
import { openDialog } from "./dialog.ts";
import { parseAnswer } from "./trusted.ts";

/* Finds anything: what `/search` answers, drawn under a field. The page of that address is the palette without script. */

/** After the last letter, milliseconds. */
const REST_MS = 80;
const MOST_LETTERS = 200;

/** The link to the search, which says where it is. */
const link = (): HTMLAnchorElement | null => document.querySelector("a[data-palette]");

export function takePalette(): void {
  document.addEventListener("click", (event) => {
    const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (isPlain && (event.target as Element).closest("a[data-palette]") && togglePalette())
      event.preventDefault();
  });
}

/** Opens it, or closes it where it is open; false where this page has no search. */
export function togglePalette(): boolean {
  const open = document.querySelector<HTMLDialogElement>("dialog.palette");
  if (open) {
    open.close();
    return true;
  }
  const search = link();
  if (!search) return false;
  const field = document.createElement("input");
  // Not a search field: there Esc empties it first, and the dialog stays.
  field.type = "text";
  field.inputMode = "search";
  field.maxLength = MOST_LETTERS;
  field.setAttribute("aria-label", "Find");
  field.setAttribute("autocomplete", "off");
  field.placeholder = "Page, project, rule, person, #123, or a message";
  const results = document.createElement("div");
  results.className = "palette-results";
  results.setAttribute("aria-live", "polite");
  const dialog = openDialog("Find", field, results);
  dialog.classList.add("palette");
  field.focus();
  let running = new AbortController();
  field.addEventListener("input", () => {
    running.abort();
    running = new AbortController();
    void find(search.href, field.value, results, running.signal);
  });
  dialog.addEventListener("close", () => running.abort());
  dialog.addEventListener("keydown", (event) => walk(event, field, results));
  return true;
}

async function find(
  address: string,
  text: string,
  results: HTMLElement,
  signal: AbortSignal,
): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  if (signal.aborted) return;
  if (text.trim() === "") return results.replaceChildren();
  const url = new URL(address);
  url.searchParams.set("q", text);
  try {
    const headers = { Accept: "text/html", "X-Sections": "results" };
    const response = await askPage(url.pathname + url.search, { headers, signal });
    if (!response.ok || !isMarkup(response)) throw new Error(String(response.status));
    const found = parseAnswer(await response.text()).getElementById("results");
    if (!signal.aborted) results.replaceChildren(...(found ? [...found.childNodes] : []));
  } catch {
    if (!signal.aborted) results.textContent = "Nothing can be found now: the box doesn’t answer.";
  }
}

/** Up and down go through what was found, Enter in the field opens the first. */
function walk(event: KeyboardEvent, field: HTMLInputElement, results: HTMLElement): void {
  const all = [field, ...results.querySelectorAll<HTMLElement>("a[href], button")];
  const at = all.indexOf(document.activeElement as HTMLInputElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step !== undefined) {
    all[(at + step + all.length) % all.length]?.focus();
    event.preventDefault();
  } else if (event.key === "Enter" && at === 0) {
    all[1]?.click();
    event.preventDefault();
  }
}
