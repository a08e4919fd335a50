import type { Stretch } from "../../../core/oncall/overrides.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { calendarPlot } from "../ui/calendar-plot.ts";
import { blocksOf, type CalendarBlock } from "../ui/calendar-rows.ts";
import { facesOf } from "../ui/faces.ts";
import { button, field, select } from "../ui/form.ts";
import {
  type CalendarRange,
  instantField,
  localText,
  onThatDay,
  rangeAround,
} from "../ui/local-time.ts";
import { everybody } from "../ui/people-names.ts";
import { pageWith, previewStored, type ShownSchedule, stretchWords } from "../ui/schedule.ts";
import { span } from "../ui/times.ts";
import { typedIn } from "../ui/trying.ts";
import { yours } from "./now.ts";

/** Putting somebody on call for a while: the one form in which every way of doing it ends. */

const HOUR = 3600;
const DAY = 86_400;

/** Throws 400 naming the field. */
export function coverOf(timezone: string, form: URLSearchParams): Stretch {
  return {
    account_id: form.get("account_id") ?? "",
    starts_at: instantField(timezone, form, "starts_at"),
    ends_at: instantField(timezone, form, "ends_at"),
  };
}

/** "100-200" in an address: from and until, in Unix seconds. */
export function stretchAsked(text: string | null): { starts_at: number; ends_at: number } | null {
  const found = /^(\d{1,11})-(\d{1,11})$/.exec(text ?? "");
  if (found === null) return null;
  const [starts_at, ends_at] = [Number(found[1]), Number(found[2])];
  return ends_at > starts_at ? { starts_at, ends_at } : null;
}

export const spanOf = ({
  starts_at: from,
  ends_at: until,
}: {
  starts_at: number;
  ends_at: number;
}) => ({
  from,
  until,
});

/** What the form holds: what was tried or came back, else what the address names, else what is left of the shift that is now. */
function drafted(call: PageCall, shown: ShownSchedule): URLSearchParams {
  const typed = typedIn(call, `${shown.path}/cover`);
  if (typed !== null) return typed;
  const from = Math.floor(call.now / 60) * 60;
  const current = shown.rows[0]?.blocks.find((at) => at.starts_at <= call.now && at.ends_at > from);
  const stretch = stretchAsked(call.query.get("cover")) ?? {
    starts_at: from,
    ends_at: Math.max(from + HOUR, current?.ends_at ?? from + 8 * HOUR),
  };
  const { timezone } = shown.stored;
  return new URLSearchParams({
    account_id: call.query.get("who") ?? "",
    starts_at: localText(timezone, stretch.starts_at),
    "starts_at-known": String(stretch.starts_at),
    ends_at: localText(timezone, stretch.ends_at),
    "ends_at-known": String(stretch.ends_at),
  });
}

/** Whether it is asked how one's own shift is given away: one form a page. */
const isGiven = ({ query }: PageCall): boolean =>
  stretchAsked(query.get("swap") ?? query.get("ask")) !== null;

export function coverForm(call: PageCall, shown: ShownSchedule): Markup {
  const { base, tenant } = call;
  const { path, stored, keep } = shown;
  if (isGiven(call)) return html``;
  const draft = drafted(call, shown);
  const action = `${path}/cover`;
  // Nobody stands there until somebody is chosen: it isn't decided yet.
  const nobody = draft.get("account_id") ? [] : [{ value: "", name: "Choose who …" }];
  const people = everybody(tenant.store).map(({ id, name }) => ({ value: id, name }));
  const hint = `On the schedule’s clock, ${stored.timezone}.`;
  const time = (name: "starts_at" | "ends_at", label: string) =>
    field({ ...call, fields: draft }, action, {
      name,
      label,
      id: `cover-${name}`,
      type: "datetime-local",
      required: true,
      ...(name === "ends_at" && { hint }),
    });
  return html`<h2>Cover</h2><p class="soft">Somebody else for a while: it beats every layer, and can be removed.</p>
<p class="buttons">${presets(call, shown).map(
    ({ name, starts_at, ends_at }) =>
      html`<a class="button second" href="${base}${pageWith(shown, `cover=${starts_at}-${ends_at}`)}#cover">${name}</a>`,
  )}</p>
<form class="form" id="cover-form" method="post" action="${base}${action}" data-preview="would" data-preview-to="${base}${path}/try-cover"><input type="hidden" name="keep" value="${keep}">
${select(call, action, { name: "account_id", label: "Who", value: draft.get("account_id") ?? "", choices: [...nobody, ...people], required: true })}
${time("starts_at", "From")}${time("ends_at", "Until")}
<p class="form-foot"><button class="button">Put on call</button><button class="second" formaction="${base}${path}/try-cover">Show before and after</button></p></form>`;
}

/** Stretches that are asked for most. */
function presets(call: PageCall, shown: ShownSchedule) {
  const { now } = call;
  const { timezone } = shown.stored;
  const from = Math.floor(now / 60) * 60;
  const civil = (days: number, hours: number) =>
    onThatDay(timezone, now, days * DAY + hours * HOUR);
  const isNight = now < civil(0, 8);
  const current = shown.rows[0]?.blocks.find((at) => at.starts_at <= now && at.ends_at > now);
  const date = new Date(localText(timezone, now).slice(0, 10));
  const toSaturday = (6 - date.getUTCDay() + 7) % 7;
  return [
    isNight
      ? { name: "Tonight", starts_at: from, ends_at: civil(0, 8) }
      : { name: "Tonight", starts_at: Math.max(from, civil(0, 18)), ends_at: civil(1, 8) },
    ...(current === undefined
      ? []
      : [{ name: "This shift", starts_at: from, ends_at: current.ends_at }]),
    { name: "Next 8 h", starts_at: from, ends_at: from + 8 * HOUR },
    { name: "All of Sat", starts_at: civil(toSaturday, 0), ends_at: civil(toSaturday + 1, 0) },
  ];
}

/** Before and after as two strips, and who is relieved. */
export async function coverWould(call: PageCall, shown: ShownSchedule): Promise<Markup> {
  const { stored, overrides, names } = shown;
  if (isGiven(call)) return html``;
  const draft = drafted(call, shown);
  if (!draft.get("account_id"))
    return html`<h3>Before and after</h3><p class="soft">Choose who: what changes is shown here. Nothing does until you press “Put on call”.</p>`;
  try {
    const cover = coverOf(stored.timezone, draft);
    const stretch = { from: cover.starts_at, until: cover.ends_at };
    if (stretch.until <= stretch.from) return html`<p class="wrong">It ends before it begins.</p>`;
    const range = rangeAround(stored.timezone, stretch);
    const before = blocksOf(await previewStored(call, { stored, overrides }, range));
    const tried = { stored, overrides: [...overrides, draftOverride(cover)] };
    const after = blocksOf(await previewStored(call, tried, range));
    const relieved = before.filter(
      ({ starts_at, ends_at }) => starts_at < stretch.until && ends_at > stretch.from,
    );
    const { proof } = (await facesOf(call, cover.account_id))(cover.account_id);
    return html`<h3>Before and after</h3><p>${names(cover.account_id)}, ${stretchWords(cover, stored.timezone)} (${span(cover.ends_at - cover.starts_at)})${relief(relieved, cover, shown)}</p>${proof === "none" && html`<p class="notice notice-wrong">Nothing reaches ${names(cover.account_id)}: they would not be rung.</p>`}${yours(call, stored.timezone, cover)}
${strip(call, shown, { name: "Before", id: "before", range, blocks: before })}${strip(call, shown, { name: "After", id: "after", range, blocks: after })}`;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return html`<p class="wrong">${error.message}</p>`;
  }
}

/** As the newest: it wins. */
const draftOverride = (cover: Stretch) => ({
  ...cover,
  id: "draft",
  created_at: 0,
  created_by: "",
});

function relief(
  relieved: readonly CalendarBlock[],
  cover: Stretch,
  { names, stored }: ShownSchedule,
): Markup {
  const parts = relieved.slice(0, 6).map((block) => {
    const starts_at = Math.max(block.starts_at, cover.starts_at);
    const ends_at = Math.min(block.ends_at, cover.ends_at);
    const when = stretchWords({ starts_at, ends_at }, stored.timezone);
    if (block.account_id === null) return `fills a gap (${when})`;
    if (block.account_id === cover.account_id) return `has it anyway (${when})`;
    return `relieves ${names(block.account_id)} (${when})`;
  });
  const more = relieved.length > parts.length ? `, and ${relieved.length - parts.length} more` : "";
  return html`: ${parts.join(", ")}${more}.`;
}

export function strip(
  call: PageCall,
  { stored, names, hues }: Pick<ShownSchedule, "stored" | "names" | "hues">,
  of: { name: string; id: string; range: CalendarRange; blocks: CalendarBlock[] },
): Markup {
  const { name, id, range, blocks } = of;
  return html`<div class="strip" id="strip-${id}"><p class="soft small">${name}</p>${calendarPlot({
    rows: [{ kind: "final", name, index: 0, blocks }],
    range,
    names,
    hues,
    timezone: stored.timezone,
    now: call.now,
    me: call.who.accountId,
    label: `${name}: who is on call`,
    href: () => `#strip-${id}`,
  })}</div>`;
}

const MOST_PAST = 20;

/** Those that stand and come first, then what is over. */
export function overrideList(call: PageCall, shown: ShownSchedule): Markup {
  const byStart = [...shown.overrides].sort((a, b) => a.starts_at - b.starts_at);
  const ahead = byStart.filter(({ ends_at }) => ends_at > call.now);
  const past = byStart.filter(({ ends_at }) => ends_at <= call.now).reverse();
  const item = (override: (typeof byStart)[number]) => {
    const { id, account_id, created_by } = override;
    const words = `${shown.names(account_id)}, ${stretchWords(override, shown.stored.timezone)}`;
    return html`<li class="who-item" id="override-${id}"><div><p><strong>${shown.names(account_id)}</strong> ${stretchWords(override, shown.stored.timezone)}</p><p class="soft small">by ${shown.names(created_by)}</p>${yours(call, shown.stored.timezone, override)}</div>${button(
      call,
      {
        action: `${shown.path}/overrides/${id}/remove`,
        name: "Remove",
        kind: "plain",
        label: `Remove ${words}`,
        fields: { keep: shown.keep },
      },
    )}</li>
`;
  };
  return html`<h2>Covers</h2>${ahead.length === 0 ? html`<p class="soft">No cover is planned.</p>` : html`<ul class="who">${ahead.map(item)}</ul>`}${
    past.length > 0 &&
    html`<details id="past-overrides"><summary>${past.length} past</summary><ul class="who">${past.slice(0, MOST_PAST).map(item)}</ul></details>`
  }`;
}
