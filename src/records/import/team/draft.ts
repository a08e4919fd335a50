import { Zone } from "../../../core/oncall/zone.ts";
import { shellQuoted } from "../../../ground/kit/shell.ts";
import type { ConditionInput } from "../alertmanager/conditions.ts";
import type { GivenFile } from "../given-file.ts";
import { type Imported, type ImportOptions, ImportReport } from "../importer.ts";
import { UniqueNames } from "../names.ts";
import { SecretNames } from "../secrets.ts";
import { Unread } from "../unread.ts";
import type { Given } from "./given.ts";
import { type LadderStep, ladderOf, type PlannedLadder, type PlannedStep } from "./ladder.ts";
import { GivenPeople } from "./people.ts";
import { type PlannedSchedule, planSchedule, type SchedulePlan } from "./schedules.ts";
import { zoneOf } from "./zones.ts";

export interface PlannedRule {
  name: string;
  /** In its own system, as of everything that is made. */
  id: string;
  match: { sources: string[]; min_level?: number; tags?: string[] };
  conditions?: ConditionInput[];
  /** One that `ladder` made, by its name. */
  ladder?: string | undefined;
  /** Steps of its own; left out: it pages nobody, or by its ladder. */
  escalations?: PlannedStep[];
  auto_resolve_quiet_minutes?: number;
  ack_expires_minutes?: number;
}

interface PlannedHeartbeat {
  name: string;
  id: string;
  period_seconds: number;
  grace_seconds: number;
  level?: number;
}

/** Whom an escalation policy pages, and how often. */
interface PolicyPlan {
  /** Its name in the report: `escalation policy Web`. */
  what: string;
  name: string;
  id: string;
  steps: LadderStep[];
  passes: number;
  /** Minutes from one pass to the next. */
  every: number;
}

/** From where a part comes, `pagerduty:P1`: the next import finds it by this. */
interface Origin {
  imported_from: string;
}

/** Without empty lists. */
type Written<T extends { steps: PlannedStep[] }> = Omit<T, "steps"> & {
  steps: ReturnType<typeof writtenStep>[];
};

/** A project's default limits, and the box's. */
const BOUNDS = { sources: 500, schedules: 100, rules: 500, ladders: 200 } as const;

/** The project that an export becomes, while it is built, and its report. */
export class TeamDraft extends ImportReport {
  readonly unread = new Unread();
  readonly people = new GivenPeople(this);
  readonly now: number;
  readonly title: string;
  readonly #project: string;
  readonly #system: string;
  readonly #secrets = new SecretNames();
  readonly #commands: string[] = [];
  readonly #names = {
    schedules: new UniqueNames(128),
    sources: new UniqueNames(128),
    ladders: new UniqueNames(200),
    rules: new UniqueNames(200),
    heartbeats: new UniqueNames(128),
  };
  readonly #schedules: (PlannedSchedule & Origin)[] = [];
  readonly #sources: ({ name: string; kind: string } & Origin)[] = [];
  readonly #ladders: ({ name: string } & Written<PlannedLadder> & Origin)[] = [];
  readonly #rules: (Omit<PlannedRule, "id"> & Origin)[] = [];
  readonly #heartbeats: (Omit<PlannedHeartbeat, "id"> & Origin)[] = [];

  constructor(system: string, title: string, { now, project }: ImportOptions) {
    super();
    this.now = now;
    this.title = title;
    this.#system = system;
    this.#project = new UniqueNames(128).give(project ?? system);
  }

  /** An empty export is no error. */
  emptyFile({ name }: GivenFile): void {
    this.exact(name, "It is empty: there is nothing to import.");
  }

  unknownFile({ name }: GivenFile): void {
    this.impossible(name, "It contains nothing that the import knows.");
  }

  /** Reports a part of a schedule that puts nobody on call any more. */
  ended(what: string, part: Given, { called, at }: { called: string; at: string }): void {
    part.leave();
    this.exact(what, `Its ${called} ended at ${at} and puts nobody on call: it is left out.`);
  }

  /** Adds a schedule. Returns the names of the box's schedules that it becomes. */
  schedule(plan: SchedulePlan & { id: string }): string[] {
    const made = planSchedule(plan, {
      now: this.now,
      title: this.title,
      report: this,
      name: (wanted) => this.#names.schedules.give(wanted),
    });
    for (const [i, one] of made.entries()) {
      const id = `${plan.id || plan.name}${i === 0 ? "" : `/${i + 1}`}`;
      this.#schedules.push({ ...one, ...this.#origin(id) });
    }
    return made.map(({ name }) => name);
  }

  zone(name: string): Zone {
    return new Zone(name);
  }

  /** The time zone that a schedule names; null where it can't be one for that. */
  zoneOf(schedule: Given, name: string, what: string): string | null {
    const zone = zoneOf(name);
    if (zone !== null) return zone;
    schedule.leave();
    this.impossible(what, `Its time zone "${name}" is unknown.`);
    return null;
  }

  /** `id`: in its own system, of what the source is made for. */
  source(wanted: string, id: string): string {
    const name = this.#names.sources.give(wanted);
    this.#sources.push({ name, kind: this.#system, ...this.#origin(id || wanted) });
    return name;
  }

  /** Keeps a key that senders have: a command lets it in after the file is applied. */
  oldKey(source: string, words: readonly string[], key: string): void {
    const what = `the key that senders of ${words.join(", ")} have`;
    const { env } = this.#secrets.refer([this.#system, ...words, "key"], { value: key, what });
    const place = `${shellQuoted(this.#project)} ${shellQuoted(source)}`;
    this.#commands.push(`printf %s "$${env}" | box source add-key ${place} -`);
  }

  /** Adds a ladder. Returns its name. */
  ladder({ what, name, id, steps, passes, every }: PolicyPlan): string {
    const said = this.lines.length;
    const planned = ladderOf(steps, { passes, every }, (how) => this.nearly(what, how));
    const given = this.#names.ladders.give(name);
    const home = (schedule: string) => `${this.#project}/${schedule}`;
    const from = planned.steps.map((one) => ({ ...one, schedules: one.schedules.map(home) }));
    const origin = this.#origin(id || name);
    this.#ladders.push({ name: given, ...planned, steps: from.map(writtenStep), ...origin });
    if (planned.steps.length === 0)
      this.impossible(what, "None of its steps pages anybody who is imported.");
    else if (this.lines.length === said) this.exact(what, ladderText(given, planned));
    return given;
  }

  /** Steps that one rule alone has, because they are no policy there. */
  steps(what: string, { people, schedules }: Omit<LadderStep, "after">): PlannedStep[] {
    const say = (how: string) => this.nearly(what, how);
    return ladderOf([{ after: 0, people, schedules }], { passes: 1, every: 0 }, say).steps;
  }

  rule({ name, id, ...rule }: PlannedRule): void {
    const origin = this.#origin(id || name);
    this.#rules.push({ name: this.#names.rules.give(name), ...rule, ...origin });
  }

  #origin(id: string): Origin {
    return { imported_from: [...`${this.#system}:${id}`].slice(0, 512).join("") };
  }

  heartbeat({ name, id, ...rest }: PlannedHeartbeat): string {
    const given = this.#names.heartbeats.give(name);
    this.#heartbeats.push({ name: given, ...rest, ...this.#origin(id || name) });
    return given;
  }

  /** `known`: fields that the report may leave out. */
  finish(known: readonly string[]): Imported {
    for (const { kind, fields } of this.unread.rest(known))
      this.impossible(kind, `The box has no place for their ${fields.join(", ")}.`);
    const { planned } = this.people;
    if (planned.length > 0)
      this.nearly(
        "users",
        "They get accounts without a password or contacts: box config apply --invite prints a link for each, and everybody enters and confirms their own addresses and numbers.",
      );
    this.#overBounds();
    const ladders = this.#ladders;
    const shared = new Set(ladders.flatMap(({ steps }) => steps.flatMap((one) => one.schedules)));
    const project = {
      name: this.#project,
      imported_from: this.#system,
      sources: this.#sources,
      schedules: this.#schedules.map((one) =>
        shared.has(`${this.#project}/${one.name}`) ? { ...one, shared: true } : one,
      ),
      rules: this.#rules.map(writtenRule),
      ...(this.#heartbeats.length === 0 ? {} : { heartbeats: this.#heartbeats }),
    };
    return {
      config: {
        format: 1,
        ...(planned.length === 0 ? {} : { people: planned }),
        ...(ladders.length === 0 ? {} : { tenant: { ladders } }),
        projects: [project],
      },
      report: this.lines,
      secrets: this.#secrets.secrets,
      commands: this.#commands,
    };
  }

  #overBounds(): void {
    const counts = {
      sources: this.#sources.length,
      schedules: this.#schedules.length,
      rules: this.#rules.length,
    };
    if (this.#ladders.length > BOUNDS.ladders)
      this.impossible(
        `project ${this.#project}`,
        `It has ${this.#ladders.length} ladders, and a box holds ${BOUNDS.ladders}: leave some policies out of the export.`,
      );
    for (const kind of ["sources", "schedules", "rules"] as const)
      if (counts[kind] > BOUNDS[kind])
        this.impossible(
          `project ${this.#project}`,
          `It has ${counts[kind]} ${kind}, and a project holds ${BOUNDS[kind]}: divide the file among several projects before it is applied.`,
        );
  }
}

/** Without empty values. */
const writtenRule = ({ escalations = [], ladder, ...rule }: Omit<PlannedRule, "id"> & Origin) => ({
  ...rule,
  ...(ladder === undefined ? { escalations: escalations.map(writtenStep) } : { ladder }),
});

const writtenStep = ({ accounts, schedules, ...step }: PlannedStep) => ({
  ...(accounts.length > 0 && { accounts }),
  ...(schedules.length > 0 && { schedules }),
  ...step,
});

function ladderText(name: string, { steps, passes = 1 }: PlannedLadder): string {
  const all = `${steps.length} ${steps.length === 1 ? "step" : "steps"}`;
  if (passes === 1) return `The ladder ${name} of ${all}.`;
  return `The ladder ${name} of ${all}, which runs ${passes} times; after that the box also pages the fallback.`;
}
