import { calendarOf, shiftsCalendarOf } from "../../../core/oncall/answers.ts";
import { listCalendars, makeCalendar, revokeCalendar } from "../../../core/oncall/calendars.ts";
import { DAY } from "../../../core/oncall/zone.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { CALENDAR } from "../../http/calendar.ts";
import type { Form, PageCall, PageFile } from "../screen.ts";
import { button } from "../ui/form.ts";
import { asked, type ShownSchedule, scheduleOf } from "../ui/schedule.ts";
import { ago } from "../ui/times.ts";

/** One's own secret addresses for calendar programs: of all of a schedule, and of one's shifts everywhere. */

export function calendarAddresses(call: PageCall, { stored, path }: ShownSchedule): Markup {
  const { tenant, who, shown } = call;
  const name = `${stored.project}/${stored.name}`;
  const own = listCalendars(tenant.store, who.accountId);
  const address = shown["calendar"];
  const line = (schedule: string | null, words: string, whose: "all" | "mine") => {
    const found = own.find((one) => one.schedule === schedule);
    const action = `${path}/calendar`;
    return html`<li class="who-item"><div><p>${words}</p><p class="soft small">${found === undefined ? "no address" : html`address made ${ago(call, found.created_at)}`}</p></div><div class="buttons">${button(
      call,
      {
        action,
        fields: { whose },
        kind: "second",
        name: found === undefined ? "Make an address" : "Make another",
        label: `${found === undefined ? "Make an address" : "Make another"}: ${words}`,
      },
    )}${
      found !== undefined &&
      button(call, {
        action: `${path}/calendar/${found.id}/revoke`,
        name: "Revoke",
        kind: "plain",
        label: `Revoke: ${words}`,
      })
    }</div></li>
`;
  };
  return html`<h2>In your calendar</h2>${
    address !== undefined &&
    html`<div class="notice notice-good"><p>Put this address into your calendar program. It is shown only once. Anybody who has it can read these shifts.</p><pre class="code" id="calendar-address">${address}</pre><button type="button" class="button second" data-copy="calendar-address">Copy</button></div>`
  }<ul class="who">${line(name, `All shifts of ${name}`, "all")}${line(null, "Your shifts of every schedule", "mine")}</ul>
<p class="soft">Or once, as a file: <a href="${call.base}${path}/shifts.ics" download>all shifts of ${name}</a>, <a href="${call.base}/oncall/my-shifts.ics" download>yours of every schedule</a>. It stays as it is now: the days from 30 back to 180 ahead.</p>`;
}

const make: Form = {
  verb: "makeCalendar",
  act({ tenant, who, params, origin }, form) {
    const { stored } = scheduleOf(tenant.store, params);
    const wish =
      form.get("whose") === "mine" ? {} : { schedule: `${stored.project}/${stored.name}` };
    const { secret } = tenant.store.write((tx) => makeCalendar(tx, who.accountId, wish));
    const calendar = `${tenant.publicUrl || origin}${CALENDAR}/${secret}.ics`;
    return { said: "An address for your calendar. It is shown only once.", shown: { calendar } };
  },
};

const revoke: Form = {
  verb: "revokeCalendar",
  act({ tenant, who, params }) {
    tenant.store.write((tx) => revokeCalendar(tx, who.accountId, params["calendar"] ?? ""));
    return { said: "Revoked. That address no longer works." };
  },
};

export const calendarActions: Readonly<Record<string, Form>> = {
  calendar: make,
  "calendar/{calendar}/revoke": revoke,
};

/** Calendars that are saved once; a secret address is for what is to stay fresh. */

const TYPE = "text/calendar; charset=utf-8";

const at = ({ now }: PageCall) => ({ now, today: now - (now % DAY) });

/** All shifts of one schedule. */
export async function scheduleFile(call: PageCall): Promise<PageFile> {
  const { stored } = scheduleOf(call.tenant.store, call.params);
  const body = await calendarOf(asked(call), stored, at(call));
  return { name: `${stored.project}-${stored.name}.ics`, type: TYPE, body };
}

/** One's own shifts of every schedule. */
export async function ownFile(call: PageCall): Promise<PageFile> {
  const body = await shiftsCalendarOf(asked(call), call.who.accountId, at(call));
  return { name: "my-shifts.ics", type: TYPE, body };
}
