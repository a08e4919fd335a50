import { onCallNow } from "../../../core/oncall/duty.ts";
import { listSchedules, listSharedSchedules } from "../../../core/oncall/schedules.ts";
import { listActions } from "../../../core/projects/actions.ts";
import type { StoredLadder } from "../../../core/projects/ladder.ts";
import { listLadders } from "../../../core/projects/ladders.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { listSources } from "../../../core/projects/sources.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { usableContacts } from "../../../out/contacts/notify.ts";
import { createReachable } from "../../../out/paging/reachable.ts";
import { contactKindList } from "../../../out/services/list.ts";
import { listAccounts } from "../../../people/accounts.ts";

/** How somebody can be reached, in a word or two. */
export interface ReachNow {
  dot: "shown" | "waiting" | "none";
  words: string;
}

/** What a rule of a project can name, and how things stand with it now. */
export interface RuleContext {
  project: Project;
  people: readonly { id: string; name: string }[];
  /** By the names that ladders of this project use. */
  schedules: readonly string[];
  sources: readonly string[];
  /** Those of the tenant. */
  ladders: readonly StoredLadder[];
  actions: readonly { id: string; name: string; enabled: boolean }[];
  nameOf(account: string): string;
  /** Who has it; null: nobody. */
  onCall(schedule: string): string | null;
  reach(account: string): ReachNow;
}

/** `now` in Unix seconds; `level`: of the alerts that are thought of. */
export function readRuleContext(
  reader: Reader,
  project: Project,
  { now, level }: { now: number; level: number },
): RuleContext {
  const people = listAccounts(reader).map(({ id, display_name, email }) => ({
    id,
    name: display_name.trim() === "" ? email : display_name,
  }));
  const names = new Map(people.map(({ id, name }) => [id, name]));
  const reachable = createReachable(reader, contactKindList);
  const own = listSchedules(reader, project).map(({ name }) => name);
  const shared = listSharedSchedules(reader, project)
    .filter((schedule) => schedule.project !== project.name)
    .map((schedule) => `${schedule.project}/${schedule.name}`);
  return {
    project,
    people,
    schedules: [...own, ...shared],
    sources: listSources(reader, project).map(({ name }) => name),
    ladders: listLadders(reader),
    actions: listActions(reader, project).map(({ id, name, enabled }) => ({ id, name, enabled })),
    nameOf: (account) => names.get(account) ?? account,
    onCall(schedule) {
      const account = onCallNow(reader, { projectId: project.id, name: schedule }, now);
      return account !== null && names.has(account) ? account : null;
    },
    reach(account) {
      if (!names.has(account)) return { dot: "none", words: "is no member here" };
      const used = new Set(reachable.ways(account, level).map(({ contactId }) => contactId));
      const kinds = usableContacts(reader, account)
        .filter(({ id }) => used.has(id))
        .map(({ kind }) => kind);
      const ways = [...(reachable.hasPhone(account, project.id) ? ["phone"] : []), ...kinds];
      if (ways.length > 0) return { dot: "shown", words: [...new Set(ways)].join(", ") };
      return reachable.isKnown
        ? { dot: "none", words: "no channel!" }
        : { dot: "waiting", words: "by shared channels, if at all" };
    },
  };
}
