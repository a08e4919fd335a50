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
  shifts: "shifts",
  chains: "escalation chains",
  policies: "escalation policies",
  integrations: "integrations",
  routes: "routes",
} as const;
type Kind = keyof typeof WORDS;

/** Answers of Grafana OnCall's API, sorted by their shape, since every answer calls its list `results`. */
export type OnCallFiles = Record<Kind, Given[]> & {
  /** With the file's name, which says to which schedule they belong. */
  finals: { of: string; given: Given }[];
};

function kindOf(value: GivenFields): Kind | "finals" | "swaps" | null {
  const has = (...keys: string[]) => keys.every((key) => Object.hasOwn(value, key));
  if (has("shift_start", "shift_end")) return "finals";
  if (has("swap_start")) return "swaps";
  if (has("escalation_chain_id", "position", "type")) return "policies";
  if (has("integration_id")) return "routes";
  if (has("link")) return "integrations";
  if (has("duration", "start")) return "shifts";
  if (has("username")) return "users";
  if (has("type", "name") && (has("on_call_now") || has("shifts") || has("time_zone")))
    return "schedules";
  if (has("avatar_url")) return "teams";
  if (has("id", "name", "team_id")) return "chains";
  const isPlain = Object.keys(value).every((key) => ["id", "name", "team_id"].includes(key));
  return isPlain && has("id", "name") ? "chains" : null;
}

/** Throws ImportFault. */
export function onCallFiles(files: readonly GivenFile[], draft: TeamDraft): OnCallFiles {
  const { unread } = draft;
  const found = new ExportedThings(draft, WORDS);
  const finals: OnCallFiles["finals"] = [];
  for (const file of files) {
    const others: string[] = [];
    const value = exportedJson(file);
    const page = isFields(value) ? value : null;
    const list = listOf(value);
    if (page !== null && !list.includes(page)) unread.saw(page, "answers", PAGE);
    if ([value, page?.["results"]].some((one) => Array.isArray(one) && one.length === 0))
      draft.emptyFile(file);
    else if (list.length === 0) draft.unknownFile(file);
    for (const one of list) {
      const kind = kindOf(one);
      if (kind === null || kind === "swaps") unread.leave(one);
      if (kind === "finals")
        finals.push({ of: file.name, given: new Given(one, "final shifts", unread) });
      else if (kind === "swaps")
        draft.impossible(
          `shift swap ${String(one["id"] ?? "")}`,
          "A swap is two overrides here: box override swap makes them.",
        );
      else if (kind === null) others.push(String(one["name"] ?? one["id"] ?? "without a name"));
      else found.keep(kind, one, String(one["id"] ?? ""));
    }
    if (others.length > 0)
      draft.impossible(
        file.name,
        `Unknown answers aren't imported: ${others.slice(0, 20).join(", ")}${others.length > 20 ? " and more" : ""}.`,
      );
    const next = page?.["next"];
    if (typeof next === "string" && !files.some((one) => comesNext(next, pageOf(one) ?? {})))
      draft.impossible(
        file.name,
        "Its answer isn't complete: also fetch the address in its next, into another file.",
      );
  }
  return { ...found.all(), finals };
}

const PAGE = [
  "results",
  "count",
  "next",
  "previous",
  "current_page_number",
  "page_size",
  "total_pages",
];

function pageOf(file: GivenFile): GivenFields | null {
  const value = exportedJson(file);
  return isFields(value) ? value : null;
}

function listOf(value: unknown): GivenFields[] {
  if (Array.isArray(value)) return value.filter(isFields);
  if (!isFields(value)) return [];
  const { results } = value;
  if (Array.isArray(results)) return results.filter(isFields);
  return Object.hasOwn(value, "id") ? [value] : [];
}
