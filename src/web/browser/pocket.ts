import { pageBase } from "./page.ts";
import { parseAnswer, workerAddress } from "./trusted.ts";

/* The page's side of the service worker, where there can be one: over https, or on the box's own machine. */

/** What the worker tells: its line of acts that weren't sent, as markup, and the alerts that they are about. */
interface Told {
  held: string;
  unsent: string[];
}

export function takeWorker(): void {
  // A property that isn't there on plain http.
  const { serviceWorker } = navigator as { serviceWorker?: ServiceWorkerContainer };
  if (serviceWorker === undefined) return;
  serviceWorker.addEventListener("message", ({ data }) => {
    if (typeof (data as Partial<Told> | null)?.held === "string") showHeld(data as Told);
  });
  serviceWorker.startMessages();
  tellWorker("held");
  // Whoever isn't signed in has nothing to keep.
  if (!document.documentElement.dataset["who"]) return;
  const register = () => {
    serviceWorker.register(workerAddress(pageBase), { scope: `${pageBase}/` }).catch(() => {});
    // The page by which one came first isn't the worker's: it is told of it.
    if (serviceWorker.controller === null)
      serviceWorker.ready.then(({ active }) => active?.postMessage("came"));
  };
  if (document.readyState === "complete") register();
  else addEventListener("load", register);
}

const tellWorker = (word: string): void => navigator.serviceWorker?.controller?.postMessage(word);

/** The session is over: what was kept goes. */
export const leftSession = (): void => tellWorker("signed-out");

/** Above the page, where no answer of the box draws. */
function showHeld({ held, unsent }: Told): void {
  document.getElementById("held")?.remove();
  // Nothing waits any more: what the answer to the form said isn't so now.
  if (unsent.length === 0 && held !== "") document.getElementById("said")?.replaceChildren();
  const line = parseAnswer(held).getElementById("held");
  if (line) document.querySelector(".main")?.prepend(document.importNode(line, true));
  const own = /\/a\/(\d+)$/.exec(location.pathname)?.[1];
  for (const place of document.querySelectorAll<HTMLElement>("[data-row] .row-age, #head .state")) {
    const id = place.closest("[data-row]")?.id.slice("row-".length) ?? own ?? "";
    if (unsent.includes(id)) place.dataset["unsent"] = "";
    else delete place.dataset["unsent"];
  }
}
