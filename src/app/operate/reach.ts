import type { Project } from "../../core/projects/projects.ts";
import { levelName } from "../../ground/kit/level.ts";
import type { Reader } from "../../ground/store/store.ts";
import { type RelaySilence, readSilence } from "../../out/outbox/relay-silence.ts";
import type { HealthCheck } from "../../tenant/health.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";
import { gauge, type Metric } from "./metrics.ts";
import { type PeopleReach, peopleReach } from "./reach-people.ts";
import { type PagedAt, type ProjectReach, reachOf } from "./reach-project.ts";

/** A person or a rule that nothing reaches. It is a note where a shared channel may reach them. */
interface Unreached {
  kind: "person" | "rule";
  isFault: boolean;
  /** The person or rule, the place and the reason, with names. */
  sentence: string;
}

/** Rules that one check reads again. The rest waits for the next check. */
const RULES_A_LOOK = 5_000;

/** Finds people on ladders whom nothing reaches, and rules that notify nobody. Reads only changed projects again. */
type ReachWatch = ReturnType<typeof createReachWatch>;

/** Changes with the versions of all projects that share schedules. */
const SHARED = `SELECT group_concat(id || ':' || version) FROM projects
  WHERE id IN (SELECT project_id FROM schedules WHERE shared = 1)`;

export function createReachWatch(rulesALook = RULES_A_LOOK) {
  const known = new Map<number, ProjectReach>();
  let sharedThen = "";
  return {
    /** `complete`: false where there are more rules than one check reads. */
    look(reader: Reader): { unreached: Unreached[]; complete: boolean } {
      const projects = reader
        .sql<[], Project>(
          "SELECT id, name, version, created_at AS createdAt FROM projects ORDER BY name",
        )
        .all();
      const shared = reader.sql<[], string | null>(SHARED).pluck().get() ?? "";
      if (shared !== sharedThen)
        for (const [id, { looksElsewhere }] of known) if (looksElsewhere) known.delete(id);
      sharedThen = shared;
      let left = rulesALook;
      const seen: ProjectReach[] = [];
      for (const project of projects) {
        const before = known.get(project.id);
        if (before?.version === project.version && before.name === project.name) seen.push(before);
        else if (left > 0) {
          const reach = reachOf(reader, project);
          known.set(project.id, reach);
          left -= 1 + reach.paged.size + reach.bare.length;
          seen.push(reach);
        }
      }
      const ids = new Set(projects.map(({ id }) => id));
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
      return { unreached: unreachedIn(reader, seen), complete: seen.length === projects.length };
    },
  };
}

function unreachedIn(reader: Reader, projects: readonly ProjectReach[]): Unreached[] {
  const emails = new Map(
    reader.sql<[], [id: string, email: string]>("SELECT id, email FROM accounts").raw().all(),
  );
  const relay = {
    configured: reader.sql<[]>("SELECT 1 FROM relay").get() !== undefined,
    silence: readSilence(reader),
  };
  const people = peopleReach(reader);
  return projects.flatMap((project) => [
    ...peopleOf(project, { emails, relay, people }),
    ...rulesOf(project, relay),
  ]);
}

interface Relay {
  configured: boolean;
  silence: RelaySilence;
}

interface Ways {
  emails: ReadonlyMap<string, string>;
  relay: Relay;
  people: PeopleReach;
}

function peopleOf(project: ProjectReach, { emails, relay, people }: Ways): Unreached[] {
  const others = project.escalations;
  return [...project.paged].flatMap(([account, paged]): Unreached[] => {
    const email = emails.get(account);
    const relayWhy = whyNot(project, relay, account);
    if (relayWhy === null || email === undefined) return [];
    const missed = missedBy(people, account, paged);
    if (missed === null) return [];
    const { places, below, why, isNamed } = missed;
    const said = `${email} is paged by ${places.join(", ")} of ${project.name}`;
    const sentence =
      others.length === 0
        ? `${said}, and nothing reaches them${below}: ${why}, ${relayWhy}, and no other channel gets escalations`
        : `${said} through ${list(others)} alone${below}: ${why} and ${relayWhy}`;
    return [{ kind: "person", isFault: others.length === 0 && isNamed, sentence }];
  });
}

/** The part of a person's pages for which they have no contact; null: there is none. */
function missedBy(people: PeopleReach, account: string, { places, lowest, anyLevel }: PagedAt) {
  const from = people.from(account);
  if (from === null) return { places, below: "", why: people.whyNone(account), isNamed: true };
  const isNamed = lowest !== null && lowest.level < from;
  const place = isNamed ? lowest.place : anyLevel;
  if (from === 0 || place === null) return null;
  const below = ` below ${levelName(from)}`;
  const why = "no notification rule of theirs takes those alerts";
  return { places: [place], below, why, isNamed };
}

/** Why the relay doesn't reach this person; null: as far as is known, it does. */
function whyNot(project: ProjectReach, { configured, silence }: Relay, account: string) {
  if (!configured) return "no hosted relay is configured";
  if (!project.relay) return "the project's relay is disabled";
  const since = silence.accounts.get(account) ?? silence.all;
  return since === null ? null : `the relay knows no phone of theirs (as of ${utc(since)})`;
}

function rulesOf(project: ProjectReach, relay: Relay): Unreached[] {
  const [hears] = project.openings;
  const relayHears = relay.configured && project.relay && relay.silence.all === null;
  if (hears !== undefined) return [];
  const rule = (name: string, why: string, isFault: boolean): Unreached => ({
    kind: "rule",
    isFault,
    sentence: `alerts of rule ${name} of ${project.name} notify nobody: ${why}`,
  });
  const none = "the project has no enabled channel that gets them";
  const empty = project.emptyLadders.map((name) =>
    rule(name, `its ladder's schedules have no participants, and ${none}`, true),
  );
  const bare = project.bare.map(({ rule: name, acts }) =>
    rule(name, `it has no ladder, and ${none}${acts ? " (it runs actions)" : ""}`, !acts),
  );
  return relayHears ? [] : [...empty, ...bare];
}

function utc(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

const MOST_NAMED = 10;
const ADVICE =
  "add a contact that reaches them (box contact add), pair a phone through the hosted relay, or add a channel that gets alert.opened and alert.escalated";

/** Readiness is public: `detail` counts, `named` has names. A note doesn't make the box degraded. */
export function reachCheck(watch: ReachWatch, reader: Reader): HealthCheck {
  const { unreached, complete } = watch.look(reader);
  const faults = unreached.filter(({ isFault }) => isFault);
  const base = { name: "reach", severity: "degraded" as const, ok: faults.length === 0 };
  const more = complete ? "" : "; not every project has been checked yet";
  if (faults.length === 0) {
    const said =
      "everybody on a ladder can be reached as far as is known, and every rule notifies somebody";
    const notes = unreached.map(({ sentence }) => sentence);
    return {
      ...base,
      detail: said + more,
      ...(notes.length > 0 ? { named: `${said}; ${list(notes)}` } : {}),
    };
  }
  const people = faults.filter(({ kind }) => kind === "person").length;
  const rules = faults.length - people;
  const counts = [
    ...(people > 0 ? [`ladders page ${people} whom nothing reaches`] : []),
    ...(rules > 0 ? [`alerts of ${rules} rules notify nobody`] : []),
  ].join("; ");
  return {
    ...base,
    detail: `${counts}${more}`,
    named: list(faults.map(({ sentence }) => sentence)) + more,
  };
}

export function reachMetric(watch: ReachWatch, reader: Reader): Metric {
  const faults = watch.look(reader).unreached.filter(({ isFault }) => isFault);
  return gauge(
    "box_unreached",
    "People whom ladders page and nothing reaches, and rules whose alerts notify nobody.",
    (["person", "rule"] as const).map((kind) => ({
      labels: { kind },
      value: faults.filter((one) => one.kind === kind).length,
    })),
  );
}

/** The doctor's findings: each by name. */
export function reachFindings(reader: Reader): Finding[] {
  const { unreached } = createReachWatch(Number.POSITIVE_INFINITY).look(reader);
  if (unreached.length === 0)
    return [ok("reach", "everybody on a ladder can be reached as far as is known")];
  const shown = unreached.toSorted((a, b) => Number(b.isFault) - Number(a.isFault));
  const left = shown.length - MOST_FINDINGS;
  return [
    ...shown
      .slice(0, MOST_FINDINGS)
      .map(({ isFault, sentence }) =>
        isFault ? wrong("reach", sentence, ADVICE) : note("reach", sentence),
      ),
    ...(left > 0 ? [note("reach", `and ${left} more`)] : []),
  ];
}

const MOST_FINDINGS = 50;

function list(sentences: readonly string[]): string {
  const more = sentences.length - MOST_NAMED;
  return sentences.slice(0, MOST_NAMED).join("; ") + (more > 0 ? `; and ${more} more` : "");
}
