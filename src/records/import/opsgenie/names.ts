import type { TeamDraft } from "../team/draft.ts";
import type { Given } from "../team/given.ts";
import type { OpsgenieFiles } from "./files.ts";

/** An escalation that rules may use. */
export interface OwnedLadder {
  /** Its own name, and its ladder's. */
  name: string;
  ladder: string;
  /** Its team's id or name. */
  team: string;
}

/** Finds things by id or by name, as other things refer to them. */
export interface OpsgenieNames {
  members(id: string, name: string): { email: string; role: string }[];
  /** Names of the box's schedules, as ladders use them. */
  schedules(id: string, name: string): string[];
  /** All people who take turns. */
  participants(id: string, name: string): string[];
  /** The first user of an escalation. */
  firstOf(id: string, name: string): string | null;
  overridesOf(schedule: string): Given[];
  timelineOf(schedule: string): Given | null;
}

/** What identifies a thing among those of its kind. */
export const keyOf = (given: Given): string => given.text("id") || given.text("name");

/** `schedules`: names of the box's schedules by key. Filled while they are made. */
export function namesIn(draft: TeamDraft, given: OpsgenieFiles) {
  const schedules = new Map<string, string[]>();
  const find = (list: readonly Given[], id: string, name: string) =>
    list.find(
      (one) => (id !== "" && one.text("id") === id) || (name !== "" && one.text("name") === name),
    );
  const userOf = (one: Given | null, where: string) =>
    draft.people.find(
      {
        id: one?.text("id") ?? "",
        email: one?.text("username") ?? "",
        called: one?.text("username") ?? "",
      },
      where,
    );
  const named: OpsgenieNames = {
    members(id, name) {
      const team = find(given.teams, id, name);
      return (team?.objects("members", "members") ?? []).flatMap((member) => {
        const email = userOf(member.object("user", "users of teams"), `team ${name || id}`);
        return email === null ? [] : [{ email, role: member.text("role").toLowerCase() }];
      });
    },
    schedules(id, name) {
      const found = find(given.schedules, id, name);
      return found === undefined ? [] : (schedules.get(keyOf(found)) ?? []);
    },
    participants(id, name) {
      const rotations = find(given.schedules, id, name)?.objects("rotations", "rotations") ?? [];
      const all = rotations.flatMap((one) => one.objects("participants", "participants"));
      const users = all.filter((one) => one.text("type") === "user");
      const teams = all.filter((one) => one.text("type") === "team");
      const emails = users
        .map((one) => userOf(one, `schedule ${name || id}`))
        .filter((one) => one !== null);
      const more = teams.flatMap((one) =>
        named.members(one.text("id"), one.text("name")).map(({ email }) => email),
      );
      return [...new Set([...emails, ...more])];
    },
    firstOf(id, name) {
      const rules = find(given.escalations, id, name)?.objects("rules", "escalation rules") ?? [];
      const users = rules
        .map((rule) => rule.object("recipient", "recipients"))
        .filter((one) => one?.text("type") === "user");
      return users.length === 0 ? null : userOf(users[0] ?? null, `escalation ${name || id}`);
    },
    overridesOf: (schedule) =>
      given.overrides
        .filter(({ of }) => of.includes(schedule) || given.schedules.length === 1)
        .map((one) => one.given),
    timelineOf: (schedule) =>
      given.timelines.find((one) => one.object("_parent", "parents")?.text("id") === schedule) ??
      null,
  };
  for (const { of, given: one } of given.overrides)
    if (
      given.schedules.length !== 1 &&
      !given.schedules.some((schedule) => of.includes(schedule.text("id")))
    ) {
      one.leave();
      draft.impossible(
        of,
        "An override in it doesn't say of which schedule it is: name the file after the schedule's id.",
      );
    }
  return { named, schedules };
}
