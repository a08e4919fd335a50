import { onCallNow } from "../../../core/oncall/duty.ts";
import { listSchedules } from "../../../core/oncall/schedules.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { sharedSchedules } from "../../../core/projects/schedule-names.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { usableContacts } from "../../../out/contacts/notify.ts";
import { createReachable } from "../../../out/paging/reachable.ts";
import { wayWord } from "../../../out/services/service-names.ts";
import type { Faces } from "./faces.ts";
import { everybody } from "./people-names.ts";

/** How somebody can be reached, in a word or two. */
interface ReachNow {
  dot: "shown" | "waiting" | "none";
  words: string;
}

/** What a ladder can name, and how things stand with it now. */
export interface LadderContext {
  people: readonly { id: string; name: string }[];
  /** By the names that the ladder uses. */
  schedules: readonly string[];
  nameOf(account: string): string;
  faces: Faces;
  /** Who has it. */
  onCall(schedule: string): readonly string[];
  reach(account: string): ReachNow;
}

/** No project has it. */
const NONE = 0;

interface LadderAsked {
  /** Unix seconds. */
  now: number;
  /** Of the alerts that are thought of. */
  level: number;
  /** Whose relay pages phones; null: none. */
  project: Project | null;
  /** Whether the ladder is a rule's own, and so names its project's schedules by their names alone. */
  isOwn: boolean;
  faces: Faces;
}

export function readLadderContext(
  reader: Reader,
  { now, level, project, isOwn, faces }: LadderAsked,
): LadderContext {
  const projectId = project?.id ?? NONE;
  const people = everybody(reader);
  const names = new Map(people.map(({ id, name }) => [id, name]));
  const reachable = createReachable(reader);
  return {
    people,
    faces,
    schedules: schedulesFor(reader, isOwn ? project : null),
    nameOf: (account) => names.get(account) ?? account,
    onCall(schedule) {
      const accounts = onCallNow(reader, { projectId, name: schedule }, now);
      return accounts.filter((account) => names.has(account));
    },
    reach(account) {
      if (!names.has(account)) return { dot: "none", words: "is no member here" };
      const used = new Set(reachable.ways(account, level).map(({ contactId }) => contactId));
      const kinds = usableContacts(reader, account)
        .filter(({ id }) => used.has(id))
        .map(({ kind }) => wayWord(kind));
      const ways = [...(reachable.hasPhone(account, projectId) ? ["phone"] : []), ...kinds];
      if (ways.length > 0) return { dot: "shown", words: [...new Set(ways)].join(", ") };
      return reachable.isKnown
        ? { dot: "none", words: `nothing reaches ${names.get(account)}` }
        : { dot: "waiting", words: "by shared channels, if at all" };
    },
  };
}

function schedulesFor(reader: Reader, project: Project | null): string[] {
  const shared = sharedSchedules(reader)
    .filter(({ projectId }) => projectId !== project?.id)
    .map(({ home, name }) => `${home}/${name}`);
  if (project === null) return shared;
  return [...listSchedules(reader, project).map(({ name }) => name), ...shared];
}
