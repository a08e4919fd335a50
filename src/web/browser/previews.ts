import { askPage, isMarkup } from "./ask.ts";
import { formBody } from "./forms.ts";
import { putSections } from "./morph.ts";
import { parseAnswer } from "./trusted.ts";

/* What a form would do, shown while it is filled in: `data-preview` on a form names the section. */

/** After the last change, milliseconds. */
const REST_MS = 400;
/** Where the box tries another one just now: so long until it is asked again, and so often. */
const BUSY_MS = 800;
const MOST_ASKED = 12;

const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const running = new WeakMap<HTMLFormElement, AbortController>();

export function takePreviews(): void {
  const changed = (event: Event) => {
    const form = (event.target as Element).closest<HTMLFormElement>("form[data-preview]");
    if (form) void preview(form);
  };
  document.addEventListener("input", changed);
  document.addEventListener("change", changed);
  // A form in a menu says it once somebody opens it. The event doesn't bubble.
  const opened = ({ target }: Event) => {
    if (!(target instanceof HTMLDetailsElement) || !target.open) return;
    const around = target.closest<HTMLFormElement>("form[data-preview]");
    const section = document.getElementById(around?.dataset["preview"] ?? "");
    if (around !== null && target.contains(section)) void preview(around);
    for (const form of target.querySelectorAll<HTMLFormElement>("form[data-preview]"))
      void preview(form);
  };
  document.addEventListener("toggle", opened, true);
}

/** A newer one ends the older, whether it waits or is on its way. */
async function preview(form: HTMLFormElement): Promise<void> {
  running.get(form)?.abort();
  const own = new AbortController();
  running.set(form, own);
  await rest(REST_MS);
  const address = form.dataset["previewTo"];
  if (own.signal.aborted || address === undefined || !form.isConnected) return;
  const section = document.getElementById(form.dataset["preview"] ?? "");
  section?.setAttribute("aria-busy", "true");
  try {
    const ask = () =>
      askPage(address, {
        method: "POST",
        body: formBody(form, null),
        signal: own.signal,
        headers: { Accept: "text/html", "X-Sections": form.dataset["preview"] ?? "1" },
      });
    let response = await ask();
    for (let asked = 1; response.status === 429 && asked < MOST_ASKED; asked++) {
      await rest(BUSY_MS);
      if (own.signal.aborted) return;
      response = await ask();
    }
    if (isMarkup(response) && !response.redirected && !own.signal.aborted)
      putSections(parseAnswer(await response.text()), { form });
  } catch {
    // The last one stays; the next change tries again.
  } finally {
    if (!own.signal.aborted) section?.removeAttribute("aria-busy");
  }
}
