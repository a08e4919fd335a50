import { scheduleWrite } from "../../../core/oncall/schedule.ts";
import { createSchedule } from "../../../core/oncall/schedules.ts";
import { isTimezone } from "../../../core/oncall/zone.ts";
import { configVersions, getProject } from "../../../core/projects/projects.ts";
import { check } from "../../../ground/kit/check.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { listAccounts } from "../../../people/accounts.ts";
import type { Form, PageCall } from "../screen.ts";
import { field, select, typed, wrongOf } from "../ui/form.ts";
import { lastMondayNine } from "../ui/local-time.ts";
import { schedulePage } from "../ui/schedule.ts";

const ACTION = "/oncall/weekly";
const WEEK_MINUTES = 7 * 1440;

/** The shortest way to a rota: who takes turns, a week each, from Monday 09:00. */
export function weeklyForm(call: PageCall): Markup {
  const { tenant, base, returned, look } = call;
  const projects = configVersions(tenant.store).map(({ project }) => project);
  if (projects.length === 0)
    return html`<h2>New schedule</h2><p class="soft">A schedule belongs to a project, and there is none yet.</p>`;
  const people = listAccounts(tenant.store);
  const isBack = returned?.action === ACTION;
  const ticked = new Set(isBack ? returned.form.getAll("person") : people.map(({ id }) => id));
  const wrong = wrongOf(call, ACTION, "layers");
  return html`<h2>New weekly schedule</h2><p class="soft">One person a week in turn, changing each Monday at 09:00. Everything can be changed after.</p>
<form class="form" method="post" action="${base}${ACTION}">
${select(call, ACTION, { name: "project", label: "Project", value: projects[0] ?? "", choices: projects.map((name) => ({ value: name, name })) })}
${field(call, ACTION, { name: "name", label: "Name", value: "primary", required: true, autocomplete: "off" })}
<fieldset><legend>Who takes turns</legend>${people.map(
    ({ id, display_name, email }) =>
      html`<label class="check"><input type="checkbox" name="person" value="${id}"${ticked.has(id) && html` checked`}> ${display_name || email}</label>`,
  )}${wrong !== null && html`<p class="wrong">${wrong}</p>`}</fieldset>
${field(call, ACTION, { name: "timezone", label: "Time zone", value: typed(call, ACTION, "timezone", look.zone), required: true, hint: "As Europe/Berlin: whose clock the hand-over follows.", autocomplete: "off" })}
<p class="form-foot"><button class="button">Make a weekly schedule</button></p></form>`;
}

export const weeklyAction: Form = {
  verb: "createSchedule",
  act({ tenant, now }, form) {
    const timezone = form.get("timezone") ?? "";
    const layer = {
      name: "weekly",
      participants: form.getAll("person"),
      shift_minutes: WEEK_MINUTES,
      // An unknown zone is refused with its own words.
      rotation_start: isTimezone(timezone) ? lastMondayNine(timezone, now) : 0,
    };
    const body = { name: form.get("name") ?? "", timezone, layers: [layer] };
    const input = check(scheduleWrite, body, "body");
    const made = tenant.store.write((tx) =>
      createSchedule(tx, getProject(tx, form.get("project") ?? ""), input),
    );
    return { said: `Made ${made.project} / ${made.name}.`, to: schedulePage(made) };
  },
};
