import { Idiomorph } from "idiomorph";
import { rememberFocus } from "./focus.ts";
import { isAtWorkIn, markReturned } from "./held.ts";
import { arrangeRows } from "./lists.ts";
import { drawnAfter } from "./page.ts";
import { showPicked } from "./picks.ts";
import { shows } from "./stream.ts";
import { drawTimes } from "./times.ts";

/** Set by scripts, so that what the box draws must not take them away. */
const OWN = new Set(["data-current", "data-picked", "data-some", "data-changed", "tabindex"]);

/** How long a changed row is marked, milliseconds: as long as its bar fades. */
const MARKED_MS = 700;

export interface Put {
  /** The form that this is the answer to. */
  form?: HTMLFormElement | null;
  /** It wasn't taken: its fields hold what somebody typed. */
  refused?: boolean;
  /** Also where somebody is at work: they asked for it. */
  anyway?: boolean;
  /** The change after which the answer was drawn. */
  since?: string | null;
}

/** The change after which each section was drawn; one that isn't here, with the page. */
const drawn = new Map<string, string>();

const drawnBy = (id: string): string | null => drawn.get(id) ?? drawnAfter;

/** Whether a section shows this change, as the stream counts them. */
export const isShown = (id: string, told: string): boolean => shows(drawnBy(id), told);

/** A section stands as the box would draw it after this change. */
export function noteDrawn(id: string, since: string | null): void {
  if (since !== null) drawn.set(id, since);
}

/**
 * Puts the sections of an answer in the place of those that stand. Returns the ids of those that were left alone because
 * somebody is at work in them, or a row of them changed since they were asked for; ids that the page hasn't got are passed
 * over.
 */
export function putSections(
  answer: Document,
  { form = null, refused, anyway, since = null }: Put = {},
): string[] {
  const held: string[] = [];
  for (const fresh of partsOf(answer)) {
    const section = document.getElementById(fresh.id);
    if (section === null) continue;
    // It shows something this once: what was asked for before that hasn't got it.
    if (form === null && !anyway && section.matches("section:not([data-live])")) continue;
    // A form was answered meanwhile: what it drew is newer.
    if (since !== null && since !== drawnBy(fresh.id) && isShown(fresh.id, since)) continue;
    if (!anyway && (isAtWorkIn(section, form) || isDrawnSince(fresh))) {
      held.push(section.id);
      continue;
    }
    // Not imported: that would make all of it once more.
    morph(section, document.adoptNode(fresh));
    noteDrawn(fresh.id, since);
    const stands = document.getElementById(fresh.id);
    if (stands && (anyway || (form !== null && stands.contains(form))))
      markReturned(stands, refused === true);
  }
  drawTimes();
  showPicked();
  document.dispatchEvent(new Event("drawn"));
  return held;
}

/** An answer holds sections one after another, or it is a whole page: one that says that there is nothing here. */
function partsOf(answer: Document): Element[] {
  const isWhole = answer.querySelector("main") !== null;
  return [...answer.querySelectorAll(isWhole ? "#bar, #main, #said" : "body > [id]")];
}

/** Whether the answer has only the place of a row that stands drawn otherwise by now, or not at all. */
const isDrawnSince = (fresh: Element): boolean =>
  [...fresh.querySelectorAll<HTMLElement>("[data-row]:empty")].some(
    ({ id, dataset: { row } }) => document.getElementById(id)?.dataset["row"] !== row,
  );

function morph(section: Element, fresh: Element): void {
  arrangeRows(section, fresh);
  const restoreFocus = rememberFocus(section);
  const changed: Element[] = [];
  Idiomorph.morph(section, fresh, {
    callbacks: {
      // What somebody opened stays open.
      beforeAttributeUpdated: (name, element) =>
        !OWN.has(name) && !(name === "open" && element.localName === "details"),
      beforeNodeMorphed: (before, after) => {
        if (!(before instanceof HTMLElement) || !(after instanceof HTMLElement)) return true;
        if (!("row" in before.dataset)) return true;
        if (!after.hasChildNodes()) {
          // It is as it was, but for whether it left.
          before.toggleAttribute("data-gone", "gone" in after.dataset);
          return false;
        }
        if (before.className !== after.className) changed.push(before);
        // Most rows of a list are as they were: to compare them costs a tenth of going through them.
        return !before.isEqualNode(after) || isAtWorkIn(before, null);
      },
    },
  });
  restoreFocus();
  for (const row of changed) {
    row.setAttribute("data-changed", "");
    setTimeout(() => row.removeAttribute("data-changed"), MARKED_MS);
  }
}
