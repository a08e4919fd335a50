import type { TeamDraft } from "../team/draft.ts";
import type { Given } from "../team/given.ts";
import type { LadderStep } from "../team/ladder.ts";
import type { OpsgenieNames } from "./names.ts";

const UNITS: Readonly<Record<string, number>> = {
  seconds: 1 / 60,
  second: 1 / 60,
  minutes: 1,
  minute: 1,
  hours: 60,
  hour: 60,
  days: 1440,
  day: 1440,
};

/** Makes a ladder of an escalation; returns its name. Its delays count from the alert's opening, as here. */
export function takeEscalation(draft: TeamDraft, given: Given, named: OpsgenieNames): string {
  const name = given.text("name") || given.text("id");
  const what = `escalation ${name}`;
  const steps = given
    .objects("rules", "escalation rules")
    .map((rule) => stepOf(draft, rule, { what, named }));
  const repeat = given.object("repeat", "repeats");
  const count = repeat?.number("count") ?? 0;
  const wait = repeat?.number("waitInterval") ?? 0;
  if (repeat?.raw("closeAlertAfterAll") === true)
    draft.nearly(
      what,
      "It closes the alert after its last repeat; here it stays open until a person or its source ends it.",
    );
  const last = Math.max(0, ...steps.map(({ after }) => after));
  const every = wait > 0 ? last + wait : 0;
  return draft.ladder({ what, name, id: given.text("id"), steps, passes: count + 1, every });
}

function stepOf(
  draft: TeamDraft,
  rule: Given,
  { what, named }: { what: string; named: OpsgenieNames },
): LadderStep {
  const delay = rule.object("delay", "delays");
  const unit = UNITS[(delay?.text("timeUnit") || "minutes").toLowerCase()] ?? 1;
  const after = Math.ceil((delay?.number("timeAmount") ?? 0) * unit);
  const at = `Its step after ${after} minutes`;
  if (rule.text("condition") === "if-not-closed")
    draft.nearly(
      what,
      `${at} pages also when the alert is acknowledged; here that stops the ladder.`,
    );
  const recipient = rule.object("recipient", "recipients");
  const type = recipient?.text("type") ?? "";
  const id = recipient?.text("id") ?? "";
  const called = recipient?.text("name") || recipient?.text("username") || "";
  const way = rule.text("notifyType") || "default";
  if (type === "user") {
    const person = draft.people.find(
      { id, email: recipient?.text("username") || called, called },
      what,
    );
    return { after, people: person === null ? [] : [person], schedules: [] };
  }
  if (type === "schedule") {
    if (way === "all") return { after, people: named.participants(id, called), schedules: [] };
    if (way !== "default")
      draft.nearly(
        what,
        `${at} pages the ${way} on call of the schedule ${called || id}; here the person on call then.`,
      );
    const schedules = named.schedules(id, called);
    if (schedules.length === 0)
      draft.impossible(what, `${at} names the schedule ${called || id}, which isn't imported.`);
    return { after, people: [], schedules };
  }
  if (type === "team") {
    const members = named.members(id, called);
    const some = members.filter(
      ({ role }) => way === "all" || way === "default" || (way === "admins") === (role === "admin"),
    );
    if (way !== "all" && way !== "admins" && way !== "users")
      draft.nearly(
        what,
        `${at} notifies the team ${called || id} by its own rules (${way}); here it pages all of its members.`,
      );
    const isSome = way === "admins" || way === "users";
    const people = (isSome ? some : members).map(({ email }) => email);
    if (people.length === 0)
      draft.impossible(what, `${at} pages nobody of the team ${called || id} who is imported.`);
    return { after, people, schedules: [] };
  }
  draft.impossible(
    what,
    `${at} pages a ${type || "recipient"} ${called || id}, which the box doesn't have.`,
  );
  return { after, people: [], schedules: [] };
}
