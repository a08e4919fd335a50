import type { GivenFile } from "../given-file.ts";
import type { TeamDraft } from "../team/draft.ts";
import { exportedJson, Given } from "../team/given.ts";
import { comesNext } from "../team/pages.ts";
import { ExportedThings } from "../team/things.ts";
import { type GivenFields, isFields } from "../unread.ts";

const WORDS = {
  users: "users",
  teams: "teams",
  schedules: "schedules",
  escalations: "escalations",
  integrations: "integrations",
  heartbeats: "heartbeats",
  timelines: "timelines",
} as const;
type Kind = keyof typeof WORDS;

/** Answers of Opsgenie's API and files of its backup tool, sorted by their shape. */
export type OpsgenieFiles = Record<Kind, Given[]> & {
  /** With the file's name or the schedule's id, which says to which schedule they belong. */
  overrides: { of: string; given: Given }[];
  routes: { of: string; given: Given }[];
};

type Sorted = Kind | "overrides" | "routes" | "forwardings" | "maintenances" | "others";

function kindOf(value: GivenFields): Sorted {
  const has = (...keys: string[]) => keys.every((key) => Object.hasOwn(value, key));
  if (has("finalTimeline") || has("baseTimeline")) return "timelines";
  if (has("fromUser")) return "forwardings";
  if (has("rules", "time")) return "maintenances";
  if (has("rules")) return "escalations";
  if (has("criteria", "notify")) return "routes";
  if (has("intervalUnit")) return "heartbeats";
  if (has("user", "startDate")) return "overrides";
  if (has("rotations") || (has("timezone", "enabled") && !has("type"))) return "schedules";
  if (has("username")) return "users";
  if (has("members")) return "teams";
  if (has("type", "enabled") && !has("filter") && !has("actions")) return "integrations";
  return "others";
}

/** Throws ImportFault. */
export function opsgenieFiles(files: readonly GivenFile[], draft: TeamDraft): OpsgenieFiles {
  const { unread } = draft;
  const found = new ExportedThings(draft, WORDS);
  const placed: Pick<OpsgenieFiles, "overrides" | "routes"> = { overrides: [], routes: [] };
  const take = (value: GivenFields, of: string) => {
    const kind = kindOf(value);
    const id = String(value["id"] ?? value["alias"] ?? "");
    if (kind === "forwardings" || kind === "maintenances" || kind === "others") unread.leave(value);
    const called = String(value["name"] ?? value["description"] ?? id);
    if (kind === "overrides" || kind === "routes")
      placed[kind].push({
        of,
        given: new Given(value, kind === "routes" ? "routing rules" : kind, unread),
      });
    else if (kind === "forwardings")
      draft.impossible(
        `forwarding rule ${id}`,
        "Nobody's pages are forwarded here: an override in the schedule does it.",
      );
    else if (kind === "maintenances")
      draft.impossible(
        `maintenance ${called}`,
        "It happens once, and the file contains repeating windows: box silence add makes it.",
      );
    else if (kind === "others")
      draft.impossible(
        `${called || "a thing"} in ${of}`,
        "It is none of users, teams, schedules, overrides, escalations, routing rules, integrations and heartbeats, and isn't imported.",
      );
    else found.keep(kind, value, id);
  };
  for (const file of files) {
    const value = exportedJson(file);
    const list = things(value);
    if (isFields(value) && !list.includes(value)) unread.saw(value, "answers", ANSWER);
    if (isFields(value) && isFields(value["paging"]))
      unread.saw(value["paging"], "answers", PAGING);
    if (isNothing(value)) draft.emptyFile(file);
    else if (list.length === 0) draft.unknownFile(file);
    for (const one of list) {
      const schedule = one["schedule"];
      if (isFields(schedule) && Object.hasOwn(one, "scheduleOverrideList")) {
        unread.saw(one, "answers", ANSWER);
        take(schedule, file.name);
        for (const override of things(one["scheduleOverrideList"]))
          take(override, String(schedule["id"]));
      } else take(one, file.name);
    }
    const { next } = pagingOf(file);
    if (next !== undefined && !files.some((one) => isAfter(next, pagingOf(one))))
      draft.impossible(
        file.name,
        "Its answer isn't complete: also fetch the address in its paging.next, into another file.",
      );
  }
  return { ...found.all(), ...placed };
}

const ANSWER = [
  "data",
  "heartbeats",
  "paging",
  "schedule",
  "scheduleOverrideList",
  "expandable",
  "took",
  "requestId",
];
const PAGING = ["first", "last", "next", "prev"];

function pagingOf(file: GivenFile): GivenFields {
  const value = exportedJson(file);
  const paging = isFields(value) ? value["paging"] : undefined;
  return isFields(paging) ? paging : {};
}

/** Whether an answer is the next page of another. An answer without `next` is the last page. */
const isAfter = (next: unknown, { prev, last, next: more }: GivenFields): boolean =>
  comesNext(next, { previous: prev, last: more === undefined ? last : undefined });

/** An empty list, or an answer with one. */
const isNothing = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length === 0
    : isFields(value) &&
      [value["data"], value["heartbeats"]].some((one) => one !== undefined && isNothing(one));

/** The things in an answer: its `data`, the list in that, or the value itself. */
function things(value: unknown): GivenFields[] {
  if (Array.isArray(value)) return value.filter(isFields);
  if (!isFields(value)) return [];
  const { data } = value;
  if (data !== undefined) return things(data);
  const beats = value["heartbeats"];
  return Array.isArray(beats) ? beats.filter(isFields) : [value];
}
