import type { GivenFile } from "../given-file.ts";
import type { TeamDraft } from "../team/draft.ts";
import { exportedJson, Given } from "../team/given.ts";
import { ExportedThings } from "../team/things.ts";
import { type GivenFields, isFields } from "../unread.ts";

const WORDS = {
  users: "users",
  schedules: "schedules",
  policies: "escalation policies",
  services: "services",
  windows: "maintenance windows",
} as const;
type Kind = keyof typeof WORDS;

/** Answers of PagerDuty's REST API, one or more in each file, sorted by their content. */
export type PagerDutyFiles = Record<Kind, Given[]> & {
  /** With the file's name, which says to which schedule they belong: the answer doesn't. */
  overrides: { file: string; list: Given[] }[];
};

/** By the name of an answer's list, and by the `type` of a single thing. */
const KINDS: Readonly<Record<string, Kind>> = {
  users: "users",
  user: "users",
  schedules: "schedules",
  schedule: "schedules",
  schedule_v3: "schedules",
  escalation_policies: "policies",
  escalation_policy: "policies",
  services: "services",
  service: "services",
  maintenance_windows: "windows",
  maintenance_window: "windows",
};

const PAGING = ["limit", "offset", "more", "total"];

/** Throws ImportFault. */
export function pagerDutyFiles(files: readonly GivenFile[], draft: TeamDraft): PagerDutyFiles {
  const { unread } = draft;
  const found = new ExportedThings(draft, WORDS);
  const overrides: PagerDutyFiles["overrides"] = [];
  const take = (kind: Kind, value: unknown) => {
    if (isFields(value)) found.keep(kind, value, String(value["id"] ?? ""));
  };
  /** Whether anything of it is known here. */
  const takeAnswer = (file: GivenFile, top: GivenFields): boolean => {
    const kind = KINDS[String(top["type"] ?? "")];
    if (kind !== undefined) {
      take(kind, top);
      return true;
    }
    const words = Object.entries(top).filter(([key, held]) => key in KINDS || isMuch(held));
    unread.saw(top, "answers", [...PAGING, "overrides", ...words.map(([key]) => key)]);
    for (const [key, held] of words) {
      const of = KINDS[key];
      if (of !== undefined) for (const one of [held].flat()) take(of, one);
      else if (key === "overrides" && Array.isArray(held)) {
        const list = held.filter(isFields).map((one) => new Given(one, "overrides", unread));
        overrides.push({ file: file.name, list });
      } else if (!PAGING.includes(key)) {
        unread.leave(held);
        draft.impossible(
          `${key} of ${file.name}`,
          "The box has nothing like them, or does it differently: they aren't imported.",
        );
      }
    }
    return words.some(([key]) => !PAGING.includes(key)) || Array.isArray(top["overrides"]);
  };
  const answers = files.flatMap((file) => topsOf(exportedJson(file)));
  for (const file of files) {
    const value = exportedJson(file);
    const tops = topsOf(value);
    const isKnown = tops.map((top) => takeAnswer(file, top)).includes(true);
    if (tops.some((top) => top["more"] === true && !isFollowed(top, answers)))
      draft.impossible(
        file.name,
        "Its answer isn't complete: also fetch the next page (offset=…), into another file.",
      );
    if (isNothing(value)) draft.emptyFile(file);
    else if (!isKnown) draft.unknownFile(file);
  }
  return { ...found.all(), overrides };
}

const isMuch = (value: unknown) =>
  (Array.isArray(value) && value.length > 0) || (isFields(value) && Object.keys(value).length > 0);

/** The answers in a file, which holds one or a list. */
const topsOf = (value: unknown): GivenFields[] => [value].flat().filter(isFields);

/** An empty list, or lists of nothing. */
const isNothing = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.every(isNothing)
    : isFields(value) &&
      Object.keys(value).some((key) => key in KINDS || key === "overrides") &&
      Object.entries(value).every(([key, one]) => PAGING.includes(key) || isNoList(one));

const isNoList = (value: unknown) => Array.isArray(value) && value.length === 0;

/** Whether another answer continues this list: it begins where this one ends, or before that and goes further. */
function isFollowed(top: GivenFields, all: readonly GivenFields[]): boolean {
  const next = Number(top["offset"] ?? 0) + Number(top["limit"] ?? 0);
  const keys = Object.keys(top).filter((key) => KINDS[key] !== undefined);
  return all.some((one) => {
    const from = Number(one["offset"]);
    const isThere = from <= next && (from + Number(one["limit"] ?? 0) > next || !one["more"]);
    return isThere && keys.some((key) => Array.isArray(one[key]));
  });
}
