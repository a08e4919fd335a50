import type { Importer } from "../importer.ts";
import { TeamDraft } from "../team/draft.ts";
import type { Given } from "../team/given.ts";
import { takeEscalation } from "./escalation.ts";
import { opsgenieFiles } from "./files.ts";
import { liveOpsgenie } from "./live.ts";
import { keyOf, namesIn, type OwnedLadder } from "./names.ts";
import { takeOpsgenieSchedule } from "./schedule.ts";
import { takeTeams } from "./teams.ts";

/** Opsgenie, from answers of its API or files of its backup tool. */
export const fromOpsgenie: Importer = {
  system: "opsgenie",
  title: "Opsgenie",
  live: liveOpsgenie,
  read(files, options) {
    const draft = new TeamDraft("opsgenie", "Opsgenie", options);
    const given = opsgenieFiles(files, draft);
    for (const user of given.users) takeUser(draft, user);
    const { named, schedules } = namesIn(draft, given);
    for (const schedule of given.schedules)
      schedules.set(keyOf(schedule), takeOpsgenieSchedule(draft, schedule, named));
    const ladders = new Map<string, OwnedLadder>(
      given.escalations.map((one) => {
        const owner = one.object("ownerTeam", "owner teams");
        const ladder = takeEscalation(draft, one, named);
        const name = one.text("name") || one.text("id");
        return [keyOf(one), { name, ladder, team: owner?.text("id") || owner?.text("name") || "" }];
      }),
    );
    takeTeams(draft, given, { named, ladders });
    for (const beat of given.heartbeats) takeHeartbeat(draft, beat);
    return draft.finish(KNOWN);
  },
};

const KNOWN = [
  "id",
  "description",
  "locale",
  "verified",
  "createdAt",
  "userAddress",
  "tags",
  "details",
  "links",
  "timeZone",
  "skypeUsername",
  "order",
  "alias",
  "parent",
  "_parent",
  "took",
  "requestId",
  "_readOnly",
  "baseTimeline.*",
  "overrideTimeline.*",
  "forwardingTimeline.*",
  "flattenedRecipients.*",
  "recipients",
  "resetRecipientStates",
  "expired",
  "name",
  "type",
  "mutedMembers",
];

function takeUser(draft: TeamDraft, user: Given): void {
  const role = user.object("role", "roles of users");
  const called = (role?.text("name") || user.text("role")).toLowerCase();
  const email = user.text("username");
  const name = user.text("fullName");
  const what = `user ${name || email}`;
  const isOwn = ["owner", "admin", "user"].includes(called);
  if (!isOwn)
    draft.nearly(
      what,
      `Their role ${called || "of their own"} doesn't exist here: they are a member.`,
    );
  const blocked = user.raw("blocked") === true;
  draft.people.add({
    id: user.text("id"),
    email,
    name,
    role: called === "owner" ? "owner" : called === "admin" ? "admin" : "member",
    leftOut: blocked ? "They are blocked there and get no account." : null,
  });
}

const UNITS: Readonly<Record<string, number>> = { minutes: 60, hours: 3600, days: 86_400 };

function takeHeartbeat(draft: TeamDraft, given: Given): void {
  const name = given.text("name");
  const what = `heartbeat ${name}`;
  const period = Math.round(
    (given.number("interval") ?? 0) * (UNITS[given.text("intervalUnit")] ?? 0),
  );
  if (period < 10 || period > 366 * 86_400) {
    draft.impossible(what, "It has no interval that can be read.");
    return;
  }
  if (given.raw("enabled") === false) {
    draft.impossible(
      what,
      "It is turned off there, and a heartbeat here is always on: it is left out.",
    );
    return;
  }
  draft.heartbeat({ name, id: "", period_seconds: period, grace_seconds: 60 });
  const told =
    given.has("ownerTeam") ||
    given.text("alertMessage") !== "" ||
    given.text("alertPriority") !== "";
  draft.nearly(
    what,
    `It is late after ${period / 60} minutes and one more here${told ? ", and its alert is that of the rule which matches the heartbeats' source: its text, priority and team aren't imported" : ""}. A job's ping works where its slug is its name.`,
  );
}
