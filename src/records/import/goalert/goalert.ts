import type { GivenFile } from "../given-file.ts";
import type { Importer } from "../importer.ts";
import { TeamDraft } from "../team/draft.ts";
import { exportedJson, Given } from "../team/given.ts";
import { type GivenFields, isFields } from "../unread.ts";
import { liveGoAlert } from "./live.ts";
import { takeGoAlertPolicy, takeGoAlertService } from "./policy.ts";
import { type GoAlertNodes, takeAlone, takeGoAlertSchedule } from "./schedule.ts";

/** GoAlert's answer to the GraphQL query in docs/moving.md. */
export const fromGoAlert: Importer = {
  system: "goalert",
  title: "GoAlert",
  live: liveGoAlert,
  read(files, options) {
    const draft = new TeamDraft("goalert", "GoAlert", options);
    const nodes = new Map<string, Given[]>();
    const answers = files.map((file) => ({ file, data: dataOf(file, draft) }));
    const isWhole = (key: string) => answers.some(({ data }) => hasNext(data[key]) === false);
    for (const { file, data } of answers) {
      draft.unread.saw(data, "answers", Object.keys(KINDS));
      const known = Object.entries(data).filter(([key]) => key in KINDS);
      if (known.length === 0)
        draft.impossible(
          file.name,
          "It holds none of users, rotations, schedules, escalationPolicies, services and userOverrides.",
        );
      for (const [key, held] of known) {
        if (isFields(held)) draft.unread.saw(held, "answers", ["nodes", "pageInfo"]);
        if (hasNext(held) === true && !isWhole(key))
          draft.impossible(
            `${key} of ${file.name}`,
            "Its answer isn't complete: ask with a higher first.",
          );
        const given = nodesOf(held)
          .filter(isFields)
          .map((one: GivenFields) => new Given(one, KINDS[key] ?? key, draft.unread));
        nodes.set(key, [...(nodes.get(key) ?? []), ...given]);
      }
      if (known.length > 0 && known.every(([, held]) => nodesOf(held).length === 0))
        draft.emptyFile(file);
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
      "labels.*",
      "hasNextPage",
      "endCursor",
    ]);
  },
};

const KINDS: Readonly<Record<string, string>> = {
  users: "users",
  rotations: "rotations",
  schedules: "schedules",
  services: "services",
  escalationPolicies: "escalation policies",
  userOverrides: "user overrides",
};

const targetsOf = (schedule: Given): string[] =>
  schedule
    .objects("targets", "targets of schedules")
    .map((one) => one.object("target", "targets")?.text("id") ?? "");

function dataOf(file: GivenFile, { unread }: TeamDraft): GivenFields {
  const value = exportedJson(file);
  if (!isFields(value)) return {};
  if (!isFields(value["data"])) return value;
  unread.saw(value, "answers", ["data"]);
  return value["data"];
}

/** Whether a list continues in another answer; null where the answer doesn't say. */
function hasNext(held: unknown): boolean | null {
  const page = isFields(held) ? held["pageInfo"] : null;
  return isFields(page) && typeof page["hasNextPage"] === "boolean" ? page["hasNextPage"] : null;
}

function nodesOf(held: unknown): readonly unknown[] {
  const list = isFields(held) ? held["nodes"] : held;
  return Array.isArray(list) ? list : [];
}

function take(draft: TeamDraft, nodes: GoAlertNodes): void {
  for (const user of nodes("users"))
    draft.people.add({
      id: user.text("id"),
      email: user.text("email"),
      name: user.text("name"),
      leftOut: null,
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
  const named = new Set([...schedules.keys(), ...nodes("schedules").flatMap(targetsOf)]);
  for (const [id, rotation] of rotations)
    if (!named.has(id))
      draft.impossible(
        `rotation ${rotation.leave().text("name") || id}`,
        "No schedule and no escalation policy uses it, so it puts nobody on call: it is left out.",
      );
}
