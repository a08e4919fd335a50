import { onCallNow } from "../../../core/oncall/duty.ts";
import { defaultLadderOf, defaultsOf } from "../../../core/projects/ladders.ts";
import { configVersions, getProject } from "../../../core/projects/projects.ts";
import { usableNames } from "../../../core/projects/schedule-names.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { field, select } from "../ui/form.ts";
import { levelChoices } from "../ui/level.ts";
import { everybody } from "../ui/people-names.ts";
import { LENGTH_UNITS } from "./fields.ts";
import { USUAL_RECIPIENT } from "./heartbeat-rule.ts";

/** What a job is called, how often it reports, and how late it may be. */
export function heartbeatFields(call: PageCall, action: string, fields: URLSearchParams): Markup {
  const value = (name: string) => fields.get(name) ?? "";
  return html`${field(call, action, { name: "name", label: "Name", value: value("name"), required: true, autocomplete: "off", hint: "What runs, like “nightly backup”. The alert shows it." })}
<fieldset class="ways"><legend>It reports</legend>
${select(call, action, {
  name: "how",
  label: "When",
  value: value("how"),
  choices: [
    { value: "every", name: "every so often" },
    { value: "cron", name: "by the clock, as cron says it" },
    { value: "oncalendar", name: "by the clock, as a systemd timer says it" },
  ],
})}
<div class="way-every">${lengthField(call, action, fields, { name: "period_seconds", label: "Every", hint: "From one report to the next." })}</div>
<div class="way-cron">${field(call, action, { name: "cron", label: "cron", value: value("cron"), autocomplete: "off", hint: "Five fields: 15 3 * * 1-5 is 03:15 on weekdays.", more: html`class="mono" spellcheck="false"` })}
${field(call, action, { name: "timezone", label: "On the clocks of", value: value("timezone"), autocomplete: "off", hint: "An IANA name, like Europe/Berlin." })}</div>
<div class="way-oncalendar">${field(call, action, { name: "oncalendar", label: "OnCalendar=", value: value("oncalendar"), autocomplete: "off", hint: "Mon..Fri 03:00 Europe/Vienna: kept as cron.", more: html`class="mono" spellcheck="false"` })}</div>
${lengthField(call, action, fields, { name: "grace_seconds", label: "It may be late by", hint: "An alert opens only after this time." })}
${lengthField(call, action, fields, { name: "max_run_seconds", label: "A run takes at most", hint: "Counts if the job reports its start. Leave empty to use the time it may be late." })}</fieldset>
${select(call, action, { name: "level", label: "When it is missing or fails, that is", value: value("level"), choices: levelChoices(null) })}`;
}

function lengthField(
  call: PageCall,
  action: string,
  fields: URLSearchParams,
  of: { name: string; label: string; hint: string },
): Markup {
  const { name, label, hint } = of;
  const unit = `${name}-unit`;
  return html`<div class="rule-line">${field(call, action, { name, label, hint, value: fields.get(name) ?? "", autocomplete: "off", more: html`inputmode="decimal" size="6"` })}${select(call, action, { name: unit, label: html`Unit<span class="hidden-text"> of “${label}”</span>`, value: fields.get(unit) ?? "60", choices: LENGTH_UNITS })}</div>`;
}

/** Who is told: the rules as they stand, or a ladder of its own. */
export function recipientField(call: PageCall, action: string, project: string | null): Markup {
  return html`${select(call, action, {
    name: "recipient",
    label: "Who is notified",
    value: "",
    choices: [
      { value: "", name: "as the project’s rules say" },
      ...usualRecipient(call, project),
      ...recipientChoices(call, project).map(({ value, name }) => ({
        value,
        name: `its own: ${name}`,
      })),
    ],
    hint: "A ladder of its own is a rule for this heartbeat alone. You can change it like any other rule.",
  })}`;
}

/** The default ladder of the project; of any where none is chosen yet. */
export function usualRecipient(
  { tenant: { store } }: PageCall,
  project: string | null,
): { value: string; name: string }[] {
  const home = project === null ? null : getProject(store, project);
  const ladder = home && defaultLadderOf(store, home);
  const isSome = home === null && [...defaultsOf(store).keys()].some((id) => id !== null);
  if (ladder === null && !isSome) return [];
  const name = `its own rule, on the project’s default ladder${ladder === null ? "" : `: ${ladder}`}`;
  return [{ value: USUAL_RECIPIENT, name }];
}

/** People, and schedules of the project with whom they have now; of every project where none is chosen yet. */
export function recipientChoices(
  { tenant: { store }, now }: PageCall,
  project: string | null,
): { value: string; name: string }[] {
  const people = everybody(store).slice(0, 100);
  const nameOf = new Map(people.map(({ id, name }) => [id, name]));
  const homes =
    project === null
      ? configVersions(store)
          .slice(0, 50)
          .map((one) => one.project)
      : [project];
  const schedules = homes.flatMap((name) => {
    const home = getProject(store, name);
    return [...usableNames(store, home)].slice(0, 20).map((schedule) => {
      const accounts = onCallNow(store, { projectId: home.id, name: schedule }, now);
      const names = accounts.map((account) => nameOf.get(account) ?? "somebody");
      const who = names.length === 0 ? "nobody now" : names.join(", ");
      return { value: `s:${schedule}`, name: `on call: ${schedule} (${who})` };
    });
  });
  const unique = [...new Map(schedules.map((one) => [one.value, one])).values()];
  return [...people.map(({ id }) => ({ value: `a:${id}`, name: nameOf.get(id) ?? id })), ...unique];
}

export function projectField(call: PageCall, action: string, value: string): Piece {
  const choices = configVersions(call.tenant.store).map(({ project }) => ({
    value: project,
    name: project,
  }));
  return select(call, action, { name: "project", label: "Project", value, choices });
}
