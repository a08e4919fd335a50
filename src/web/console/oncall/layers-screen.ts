import { changeSchedule, removeSchedule } from "../../../core/alerts/schedule-change.ts";
import { previewDraft } from "../../../core/oncall/answers.ts";
import type { StoredSchedule } from "../../../core/oncall/schedule.ts";
import { checkSchedule } from "../../../core/oncall/schedules.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall, Screen } from "../screen.ts";
import { blocksOf } from "../ui/calendar-rows.ts";
import { button } from "../ui/form.ts";
import { askedRange } from "../ui/local-time.ts";
import { peopleHues, peopleNames } from "../ui/people-names.ts";
import { counted } from "../ui/pieces.ts";
import { asked, scheduleOf, schedulePage, stretchWords } from "../ui/schedule.ts";
import { trying, typedIn } from "../ui/trying.ts";
import { strip } from "./cover.ts";
import { changedBy, draftOf, draftOfForm, inputOf, type ScheduleDraft } from "./draft.ts";
import { layersForm } from "./layers-form.ts";

/** How a schedule is made up: who takes turns when, with what a change would do to the next four weeks. */
export const layersScreen: Screen = {
  path: "/oncall/{project}/{schedule}/layers",
  view(call) {
    const { stored } = scheduleOf(call.tenant.store, call.params);
    const path = schedulePage(stored);
    const action = `${path}/layers`;
    // Asked for by each section that shows it: one of what is only tried isn't live, since what is saved would take its place.
    const draft = () => shownDraft(call, stored, action);
    const names = peopleNames(call.tenant.store);
    const watches = [`oncall:${stored.project}/${stored.name}`, "people"];
    const title = `${stored.project} / ${stored.name}`;
    return {
      title: `Layers · ${title}`,
      heading: html`<a href="${call.base}/oncall">On call</a> › <a href="${call.base}${path}">${title}</a> › Layers`,
      nav: "oncall",
      sections: {
        would: { watches, draw: () => would(call, stored, draft()) },
        layers: { watches, draw: () => layersForm(call, { draft: draft(), action, names }) },
        delete: () => deleteForm(call, stored, action),
      },
    };
  },
  forms: {
    "": {
      verb: "replaceSchedule",
      act({ tenant, params }, form) {
        const { project, stored } = scheduleOf(tenant.store, params);
        const to = inputOf(draftOfForm(form));
        const saved = tenant.store.write((tx) =>
          changeSchedule(tx, project, { name: stored.name, to }),
        );
        return { said: `Saved ${saved.project} / ${saved.name}.`, to: schedulePage(saved) };
      },
    },
    try: trying("previewDraft"),
    delete: {
      verb: "deleteSchedule",
      act({ tenant, params }) {
        const { project, stored } = scheduleOf(tenant.store, params);
        tenant.store.write((tx) => removeSchedule(tx, project, stored.name));
        return { said: `Deleted ${stored.project} / ${stored.name}.`, to: "/oncall" };
      },
    },
  },
};

/** What was tried or came back, else what is saved. */
function shownDraft(call: PageCall, stored: StoredSchedule, action: string): ScheduleDraft {
  const form = typedIn(call, action);
  if (form === null) return draftOf(stored);
  const at = { now: call.now, me: call.who.accountId };
  return changedBy(draftOfForm(form), form.get("do") ?? "", at);
}

const WEEKS = new URLSearchParams({ days: "28" });

/** The four weeks from this Monday, as they are and as they would be, and what gaps that opens and closes. */
async function would(
  call: PageCall,
  stored: StoredSchedule,
  draft: ScheduleDraft,
): Promise<Markup> {
  const { tenant, now } = call;
  try {
    const input = inputOf(draft);
    checkSchedule(tenant.store, input);
    const range = askedRange(input.timezone, WEEKS, now);
    const preview = await previewDraft(asked(call), { draft: input, saved: stored }, range);
    const was = preview.was ?? { shifts: [], gaps: [], until: preview.until };
    const of = {
      hues: peopleHues(call.tenant.store),
      stored: { ...stored, timezone: input.timezone },
      names: peopleNames(tenant.store),
    };
    const ahead = (gaps: readonly Gap[]) =>
      gapsWithout(gaps, [{ starts_at: 0, ends_at: now }]).map((gap) =>
        stretchWords(gap, input.timezone),
      );
    const opened = ahead(gapsWithout(preview.gaps, was.gaps));
    const closed = ahead(gapsWithout(was.gaps, preview.gaps));
    const [before, after] = [blocksOf(was), blocksOf(preview)];
    const isSame = JSON.stringify(before) === JSON.stringify(after);
    return html`<div>${!isSame && strip(call, of, { name: "As it is", id: "before", range, blocks: before })}${strip(call, of, { name: isSame ? "As it is" : "As it would be", id: "after", range, blocks: after })}</div>
${gapWords(opened, "Opens", "wrong")}${gapWords(closed, "Closes", "good")}${
  opened.length + closed.length === 0 &&
  html`<p class="soft">${isSame ? "The next weeks stay as they are." : "It opens and closes no gap."} ${preview.gaps.length > 0 && `${counted(preview.gaps.length, "gap")} in these four weeks.`}</p>`
}`;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return html`<p class="wrong">${error.message}</p>`;
  }
}

const MOST_TOLD = 6;

function gapWords(gaps: readonly string[], what: string, look: string): Markup | null {
  if (gaps.length === 0) return null;
  const more = gaps.length > MOST_TOLD ? `, and ${gaps.length - MOST_TOLD} more` : "";
  return html`<p class="${look}">${what} ${counted(gaps.length, "gap")}: ${gaps.slice(0, MOST_TOLD).join("; ")}${more}.</p>`;
}

function deleteForm(call: PageCall, stored: StoredSchedule, action: string): Markup {
  return html`<details id="delete-it"><summary>Delete…</summary><p>Its overrides and calendar addresses are deleted with it. It can’t be deleted while a ladder names it.</p>${button(
    call,
    { action: `${action}/delete`, name: `Delete ${stored.name}`, kind: "danger" },
  )}</details>`;
}

/** [starts_at, ends_at) in Unix seconds. */
interface Gap {
  starts_at: number;
  ends_at: number;
}

/** What of `these` none of `others` holds; both in order, each without overlaps. */
export function gapsWithout(these: readonly Gap[], others: readonly Gap[]): Gap[] {
  return these.flatMap(({ starts_at, ends_at }) => {
    const left: Gap[] = [];
    let at = starts_at;
    for (const other of others) {
      if (other.ends_at <= at || other.starts_at >= ends_at) continue;
      if (other.starts_at > at) left.push({ starts_at: at, ends_at: other.starts_at });
      at = Math.max(at, other.ends_at);
    }
    if (at < ends_at) left.push({ starts_at: at, ends_at });
    return left;
  });
}
