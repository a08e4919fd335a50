import type { Importer } from "../importer.ts";
import { TeamDraft } from "../team/draft.ts";
import { exportedJson, Given, type GivenFields, isFields } from "../team/given.ts";
import { takeGoAlertPolicy, takeGoAlertService } from "./policy.ts";
import { type GoAlertNodes, takeAlone, takeGoAlertSchedule } from "./schedule.ts";

/** GoAlert, as its GraphQL answers the query of docs/moving.md. */
export const fromGoAlert: Importer = {
  system: "goalert",
  title: "GoAlert",
  read(files, options) {
    const draft = new TeamDraft("goalert", "GoAlert", options);
    const nodes = new Map<string, Given[]>();
    for (const file of files) {
      const value = exportedJson(file);
      const data = isFields(value) && isFields(value["data"]) ? value["data"] : value;
      const known = isFields(data) ? Object.entries(data).filter(([key]) => key in KINDS) : [];
      if (known.length === 0)
        draft.impossible(
          file.name,
          "It holds none of users, rotations, schedules, escalationPolicies, services and userOverrides.",
        );
      for (const [key, held] of known) {
        const page = isFields(held) ? held["pageInfo"] : null;
        if (isFields(page) && page["hasNextPage"] === true)
          draft.impossible(
            `${key} of ${file.name}`,
            "Its answer says that there are more: ask with a higher first.",
          );
        const list = isFields(held) ? held["nodes"] : held;
        const given = (Array.isArray(list) ? list : [])
          .filter(isFields)
          .map((one: GivenFields) => new Given(one, KINDS[key] ?? key, draft.unread));
        nodes.set(key, [...(nodes.get(key) ?? []), ...given]);
      }
    }
    take(draft, (kind) => nodes.get(kind) ?? []);
    return draft.finish([
      "id",
      "name",
      "isFavorite",
      "stepNumber",
      "description",
      "type",
      "nextHandoffTimes",
      "labels",
    ]);
  },
};

const KINDS: Readonly<Record<string, string>> = {
  ...{ users: "users", rotations: "rotations", schedules: "schedules", services: "services" },
  ...{ escalationPolicies: "escalation policies", userOverrides: "user overrides" },
};

function take(draft: TeamDraft, nodes: GoAlertNodes): void {
  for (const user of nodes("users"))
    draft.people.add({
      ...{ id: user.text("id"), email: user.text("email"), name: user.text("name"), leftOut: null },
      role: user.text("role") === "admin" ? "admin" : "member",
    });
  const rotations = new Map(nodes("rotations").map((one) => [one.text("id"), one]));
  const schedules = new Map<string, string[]>();
  for (const schedule of nodes("schedules"))
    schedules.set(schedule.text("id"), takeGoAlertSchedule(draft, schedule, { rotations, nodes }));
  const asTarget = (id: string): string[] => {
    const rotation = rotations.get(id);
    const there = schedules.get(id);
    if (there !== undefined || rotation === undefined) return there ?? [];
    const made = takeAlone(draft, rotation);
    schedules.set(id, made);
    return made;
  };
  const policies = new Map(
    nodes("escalationPolicies").map((one) => [
      one.text("id"),
      takeGoAlertPolicy(draft, one, asTarget),
    ]),
  );
  for (const service of nodes("services")) takeGoAlertService(draft, service, policies);
  const unused = { what: "escalation policy", why: "No service of the export has it" };
  for (const made of policies.values()) if (!made.isUsed) draft.ownRule(made, unused);
}
