import type { Importer } from "../importer.ts";
import { TeamDraft } from "../team/draft.ts";
import type { Given } from "../team/given.ts";
import type { LadderStep } from "../team/ladder.ts";
import { type PagerDutyFiles, pagerDutyFiles } from "./files.ts";
import { livePagerDuty } from "./live.ts";
import { takeSchedule } from "./schedule.ts";

/** PagerDuty, from answers of its REST API: schedules of layers (v2), escalation policies, services. */
export const fromPagerDuty: Importer = {
  system: "pagerduty",
  title: "PagerDuty",
  live: livePagerDuty,
  read(files, options) {
    const draft = new TeamDraft("pagerduty", "PagerDuty", options);
    const given = pagerDutyFiles(files, draft);
    for (const user of given.users) takeUser(draft, user);
    const schedules = takeSchedules(draft, given);
    const ladders = new Map(
      given.policies.map((policy) => [policy.text("id"), takePolicy(draft, policy, schedules)]),
    );
    for (const service of given.services) takeService(draft, service, ladders);
    for (const window of given.windows)
      draft.impossible(
        `maintenance window ${window.leave().text("description") || window.text("id")}`,
        `It is quiet once, from ${window.text("start_time")} to ${window.text("end_time")}, and the file contains repeating windows: box silence add makes it.`,
      );
    return draft.finish(KNOWN);
  },
};

/** Fields that repeat others, or that the box shows differently. */
const KNOWN = [
  "id",
  "type",
  "self",
  "html_url",
  "summary",
  "created_at",
  "updated_at",
  "avatar_url",
  "color",
  "job_title",
  "description",
  "invitation_sent",
  "coordinated_incidents",
  "last_incident_timestamp",
  "escalation_policies",
  "schedules",
  "services",
  "users",
  "web_cal_url",
  "http_cal_url",
  "personal_http_cal_url",
  "rendered_coverage_percentage",
  "rendered_schedule_entries.*",
  "name",
  "time_zone",
  "locale",
  "billed",
  "vendor",
  "next_oncall_for_user",
  "on_call_handoff_notifications",
];

function takeUser(draft: TeamDraft, user: Given): void {
  const role = user.text("role");
  const name = user.text("name");
  const what = `user ${name || user.text("email")}`;
  for (const [field, words] of [
    ["contact_methods", "ways to be reached"],
    ["notification_rules", "notification rules"],
  ] as const) {
    const list = user.list(field);
    draft.unread.leave(list);
    if (list.length > 0)
      draft.nearly(
        what,
        `Their ${words} (${list.length}) must be entered by them, because each has to be confirmed.`,
      );
  }
  if (/read_only|observer|restricted|stakeholder/.test(role))
    draft.nearly(what, `As ${role} they saw less than here, as a member.`);
  draft.people.add({
    id: user.text("id"),
    email: user.text("email"),
    name,
    leftOut: null,
    role: role === "owner" ? "owner" : role === "admin" ? "admin" : "member",
  });
}

function takeSchedules(draft: TeamDraft, { schedules, overrides }: PagerDutyFiles) {
  const ids = schedules.map((one) => one.text("id"));
  const isNamed = (file: string, id: string) => id !== "" && file.includes(id);
  for (const { file, list } of overrides)
    if (list.length > 0 && ids.length !== 1 && !ids.some((id) => isNamed(file, id))) {
      for (const one of list) one.leave();
      draft.impossible(
        file,
        "Its overrides don't say of which schedule they are: name the file after the schedule's id.",
      );
    }
  return new Map(
    schedules.map((schedule) => {
      const id = schedule.text("id");
      const mine = overrides.filter(({ file }) => ids.length === 1 || isNamed(file, id));
      return [
        id,
        takeSchedule(
          draft,
          schedule,
          mine.flatMap(({ list }) => list),
        ),
      ];
    }),
  );
}

function takePolicy(
  draft: TeamDraft,
  policy: Given,
  schedules: ReadonlyMap<string, readonly string[]>,
): string {
  const name = policy.text("name") || policy.text("summary") || policy.text("id");
  const what = `escalation policy ${name}`;
  const steps: LadderStep[] = [];
  let after = 0;
  for (const rule of policy.objects("escalation_rules", "escalation rules")) {
    const people: string[] = [];
    const named: string[] = [];
    for (const target of rule.objects("targets", "targets of escalation rules")) {
      const [id, called] = [target.text("id"), target.text("summary")];
      const there = schedules.get(id);
      if (target.text("type").startsWith("schedule")) {
        if (there === undefined || there.length === 0)
          draft.impossible(
            what,
            `Its step after ${after} minutes names the schedule ${called || id}, which isn't imported.`,
          );
        named.push(...(there ?? []));
        continue;
      }
      const person = draft.people.find({ id, called }, what);
      if (person !== null) people.push(person);
    }
    const strategy =
      rule.text("escalation_rule_assignment_strategy") ||
      rule.object("escalation_rule_assignment_strategy", "assignment strategies")?.text("type");
    if (strategy === "round_robin")
      draft.nearly(
        what,
        `Its step after ${after} minutes takes turns (round robin); here it pages everybody it names.`,
      );
    steps.push({ after, people, schedules: named });
    // PagerDuty waits after a step.
    after += rule.number("escalation_delay_in_minutes") ?? 0;
  }
  const passes = (policy.number("num_loops") ?? 0) + 1;
  return draft.ladder({ what, name, id: policy.text("id"), steps, passes, every: after });
}

function takeService(
  draft: TeamDraft,
  service: Given,
  policies: ReadonlyMap<string, string>,
): void {
  const name = service.text("name") || service.text("summary") || service.text("id");
  const what = `service ${name}`;
  const said = draft.lines.length;
  const reference = service.object("escalation_policy", "escalation policies of services");
  const ladder = policies.get(reference?.text("id") ?? "");
  if (ladder === undefined)
    draft.impossible(
      what,
      `Its escalation policy ${reference?.text("summary") ?? ""} isn't in the files: its rule pages nobody until it has a ladder.`,
    );
  const status = service.text("status");
  if (status === "disabled" || status === "maintenance")
    draft.nearly(what, `It is ${status} there; its rule here opens alerts.`);
  const urgency = service.object("incident_urgency_rule", "urgency rules");
  const how = urgency === null ? null : urgencyText(urgency);
  if (how !== null) draft.nearly(what, `${how}; here each alert takes the whole ladder.`);
  const source = draft.source(name, service.text("id"));
  for (const one of service.objects("integrations", "integrations"))
    takeIntegration(draft, one, { what, name, source });
  const quiet = minutesOf(service.number("auto_resolve_timeout"));
  if (quiet > 0)
    draft.nearly(
      what,
      `It resolves ${quiet} minutes after an incident began; here after ${quiet} minutes without another event.`,
    );
  const ack = minutesOf(service.number("acknowledgement_timeout"));
  draft.rule({
    name,
    id: service.text("id"),
    match: { sources: [source] },
    ladder,
    ...(quiet > 0 && { auto_resolve_quiet_minutes: quiet }),
    ...(ack > 0 && { ack_expires_minutes: ack }),
  });
  if (draft.lines.length === said) draft.exact(what, `A source and a rule of this name.`);
}

/** What an urgency rule makes less urgent; null: nothing. */
function urgencyText(rule: Given): string | null {
  const urgency = rule.text("urgency");
  if (urgency === "high") return null;
  if (urgency === "low")
    return "All its incidents are of low urgency, which people's own rules for that may page later or not at all";
  if (urgency === "severity_based") return "Its urgency depends on the event's severity";
  return "Its urgency depends on the hour";
}

const minutesOf = (seconds: number | null) =>
  Math.max(0, Math.min(525_600, Math.ceil((seconds ?? 0) / 60)));

function takeIntegration(
  draft: TeamDraft,
  integration: Given,
  { what, name, source }: { what: string; name: string; source: string },
): void {
  const called = integration.text("name") || integration.text("summary") || integration.text("id");
  const key = integration.text("integration_key");
  const mail = integration.text("integration_email");
  if (key !== "") draft.oldKey(source, [name, called], key);
  else if (mail !== "")
    draft.impossible(
      what,
      `Mail to ${mail} (${called}) comes in through a source of kind email here: box connect email.`,
    );
  else
    draft.impossible(
      what,
      `The key of its integration ${called} isn't in the files: fetch /services with include[]=integrations, or give that sender the new one.`,
    );
}
