import { boxNow } from "./box-clock.ts";
import { refreshSections } from "./refresh.ts";

/* Sections that are others by time alone (`data-turns`, Unix seconds): they are asked for anew when their time comes. */

/** What was asked for, by section: the time that it had then, and how often. */
const asked = new Map<string, { turns: string; times: number }>();

/** To be called each second. A box that says the same time again isn't there yet: it is asked later and later. */
export function askWhatTurns(): void {
  for (const { id, dataset } of document.querySelectorAll<HTMLElement>("[data-turns][id]")) {
    const turns = dataset["turns"] ?? "";
    const before = asked.get(id);
    const times = before?.turns === turns ? before.times : 0;
    if (boxNow() < (Number(turns) + 2 ** times - 1) * 1000) continue;
    asked.set(id, { turns, times: times + 1 });
    refreshSections([id]);
  }
}
