import type { EscalationStep, RuleBody } from "../../src/core/projects/rule.ts";
import type { Store } from "../../src/ground/store/store.ts";
import type { Fact, LogEvent } from "./facts.ts";
import { onCall, rotaOf } from "./rota.ts";
import type { ClimbStep } from "./shared.ts";
import type { World } from "./world.ts";

interface Checked {
  store: Store;
  world: World;
  log: readonly LogEvent[];
  facts: readonly Fact[];
  /** What alerts of each rule's row climb at the end. */
  climbs: ReadonlyMap<number, readonly ClimbStep[]>;
  now: number;
}

/** The laws that hold for any story, read off the log without knowing how it came about. */
export function check(checked: Checked): string[] {
  const alerts = Map.groupBy(checked.log, ({ alert }) => alert);
  return [
    ...[...alerts].flatMap(([alert, events]) => [
      ...silentOnceTaken(alert, events, checked),
      ...oneASecond(alert, events),
      ...onlyThoseOnStep(alert, events, checked),
    ]),
    ...withinCap(checked),
    ...goesOn(checked),
    ...owed(checked),
    ...heldOpen(checked),
    ...withdrawn(checked),
    ...oneOfAName(checked),
  ];
}

const OVER = ["alert.acknowledged", "alert.resolved"];
const PAGES = ["alert.opened", "alert.escalated", "alert.renotified"];

/** No page after ack or resolve but by opening again; until then one acknowledgement, one resolve at most. */
function silentOnceTaken(alert: number, events: readonly LogEvent[], { store }: Checked): string[] {
  const kinds = events.map(({ event }) => event);
  const reopened = store
    .sql(
      "SELECT count(*) FROM timeline WHERE alert_id = ? AND kind IN ('reopened', 'unacknowledged')",
    )
    .pluck()
    .get(alert) as number;
  const lives = livesOf(kinds, reopened);
  const first = kinds[0] === "alert.opened" ? [] : [`alert ${alert} begins with ${kinds[0]}`];
  return [...first, ...lives.flatMap((life) => onceTaken(alert, life))];
}

/** What an alert said from each opening to the next: `reopened` times a renotify after it was taken or ended began anew. */
function livesOf(kinds: readonly string[], reopened: number): string[][] {
  const lives: string[][] = [[]];
  for (const kind of kinds) {
    const isOver = OVER.includes(lives.at(-1)?.at(-1) ?? "");
    const isAgain = kind === "alert.renotified" && isOver;
    if (isAgain && lives.length <= reopened) lives.push([]);
    lives.at(-1)?.push(kind);
  }
  return lives;
}

function onceTaken(alert: number, kinds: readonly string[]): string[] {
  const taken = kinds.findIndex(
    (kind) => kind === "alert.acknowledged" || kind === "alert.resolved",
  );
  const after = taken === -1 ? [] : kinds.slice(taken + 1);
  const pages = after.filter((kind) => PAGES.includes(kind));
  const twice = ["alert.opened", "alert.acknowledged", "alert.resolved"].filter(
    (kind) => kinds.filter((other) => other === kind).length > 1,
  );
  return [
    ...pages.map((kind) => `alert ${alert}: ${kind} after it was taken`),
    ...twice.map((kind) => `alert ${alert}: ${kind} twice`),
  ];
}

/** Never two events of one alert and kind in one second, and never back in time. */
function oneASecond(alert: number, events: readonly LogEvent[]): string[] {
  const faults: string[] = [];
  const last = new Map<string, number>();
  for (const { event, timestamp } of events) {
    if (timestamp <= (last.get(event) ?? 0))
      faults.push(`alert ${alert}: two ${event} in a second`);
    last.set(event, timestamp);
  }
  return faults;
}

/** What the rule of this row was, one after the other; the last is what it is now, if it is there. */
function versionsOf(row: number, { world, facts }: Checked): RuleBody[] {
  const rows: (number | null)[] = world.rules.map((_, i) => i + 1);
  const first = world.rules[row - 1];
  const versions = first === undefined ? [] : [first];
  for (const fact of facts) {
    if (fact.what === "added") rows[fact.rule] = fact.id;
    if (fact.what === "dropped") rows[fact.rule] = null;
    if ((fact.what === "ruled" || fact.what === "added") && rows[fact.rule] === row)
      versions.push(fact.body);
  }
  return versions;
}

/** What an alert of this row's rule climbs now. */
function ladderOf(row: number, checked: Checked): readonly ClimbStep[] {
  const isGone = checked.facts.some((fact) => fact.what === "dropped" && fact.id === row);
  return isGone ? [] : (checked.climbs.get(row) ?? []);
}

const endStep = { schedules: [], after_minutes: 0, repeat_minutes: 0 };

/** The steps up to this one that a rule of these versions may have had: its own, and those of every ladder. */
function everOf(
  versions: readonly RuleBody[],
  level: number,
  { world, facts }: Checked,
): EscalationStep[] {
  const ladders = facts.flatMap((fact) => (fact.what === "laddered" ? [fact.body] : []));
  return [
    ...versions.flatMap(({ escalations }) => escalations.slice(0, level)),
    // Of two passes the first may have been missed up to its last step.
    ...[...world.ladders.values(), ...ladders].flatMap(({ steps, passes }) =>
      passes > 1 ? steps : steps.slice(0, level),
    ),
  ];
}

/** Nobody is paged who isn't on a step or on call, at the time the history gives. */
function onlyThoseOnStep(alert: number, events: readonly LogEvent[], checked: Checked): string[] {
  const { store, world } = checked;
  const rule = store.sql("SELECT rule_id FROM alerts WHERE id = ?").pluck().get(alert) as number;
  const versions = versionsOf(rule, checked);
  const lines = store
    .sql(
      `SELECT at, kind FROM timeline WHERE alert_id = ? AND kind IN ('escalated', 'fallback')
         AND json_array_length(detail, '$.accounts') > 0 ORDER BY id`,
    )
    .all(alert) as { at: number; kind: string }[];
  return events
    .filter(({ event }) => event === "alert.escalated")
    .flatMap(({ accounts, level }, i) => {
      const steps = everOf(versions, level, checked);
      const { at, kind } = lines[i] ?? { at: 0, kind: "" };
      if (kind === "fallback") steps.push({ ...endStep, accounts: world.fallback });
      const named = new Set(steps.flatMap((step) => step.accounts));
      for (const name of steps.flatMap((step) => step.schedules))
        for (const account of onCall(rotaOf(world.rotas, name), at)) named.add(account);
      return accounts
        .filter((account) => !named.has(account))
        .map((account) => `alert ${alert}: ${account} was paged for step ${level} and isn't on it`);
    });
}

/** Renotify by interval stays within its cap; an alert that took over another may tell what was left of that one's, too. */
function withinCap(checked: Checked): string[] {
  const { store } = checked;
  const rows = store
    .sql(
      `SELECT a.id, a.rule_id AS rule, count(*) AS n FROM timeline t JOIN alerts a ON a.id = t.alert_id
       WHERE t.kind = 'renotified' AND json_extract(t.detail, '$.why') = 'interval' GROUP BY a.id`,
    )
    .all() as { id: number; rule: number; n: number }[];
  const merged = store
    .sql("SELECT count(*) FROM timeline WHERE alert_id = ? AND kind = 'merged'")
    .pluck();
  return rows
    .filter(({ id, rule, n }) => {
      const caps = versionsOf(rule, checked).map(({ max_renotify }) => max_renotify);
      const alerts = 1 + (merged.get(id) as number);
      return !caps.includes(0) && n > Math.max(...caps) * alerts;
    })
    .map(({ id, n }) => `alert ${id}: ${n} renotifies`);
}

/** Every open alert whose ladder has a step or a repeat to come has it ahead, and due_at is never late. */
function goesOn(checked: Checked): string[] {
  const { store, now } = checked;
  const rows = store
    .sql(
      "SELECT id, rule_id, step, step_at, repeat_at, renotify_at, quiet_at, due_at FROM alerts WHERE state = 'open'",
    )
    .all() as Record<string, number | null>[];
  return rows.flatMap((row) => {
    const ladder = ladderOf(row["rule_id"] ?? 0, checked);
    const step = row["step"] ?? 0;
    const top = ladder[step - 1];
    const more = step < ladder.length || (top?.repeat_minutes ?? 0) > 0;
    const next = Math.min(row["step_at"] ?? Infinity, row["repeat_at"] ?? Infinity);
    const all = [row["step_at"], row["repeat_at"], row["renotify_at"], row["quiet_at"]].filter(
      (at) => typeof at === "number",
    );
    return [
      ...(more && !(next > now && next < Infinity)
        ? [`alert ${row["id"]}: its ladder stands still`]
        : []),
      ...(all.length > 0 && (row["due_at"] ?? Infinity) > Math.min(...all)
        ? [`alert ${row["id"]}: due_at is late`]
        : []),
    ];
  });
}

/**
 * An alert that nobody acknowledged or resolved and that did not go quiet is paged once a step's time has passed,
 * as long as the ladder names anybody who is there.
 */
function owed(checked: Checked): string[] {
  const { store, facts, now } = checked;
  const gone = new Set(facts.flatMap((fact) => (fact.what === "removed" ? [fact.account] : [])));
  const rows = store
    .sql(
      "SELECT id, rule_id AS rule, ladder_from AS begin, escalation_level AS level FROM alerts WHERE state = 'open'",
    )
    .all() as { id: number; rule: number; begin: number; level: number }[];
  return rows
    .filter(({ rule, begin, level }) => {
      const ladder = ladderOf(rule, checked);
      const first = ladder[0]?.after_minutes ?? Number.POSITIVE_INFINITY;
      const anybody = ladder.some(({ accounts }) => accounts.some((one) => !gone.has(one)));
      return level === 0 && anybody && begin + first * 60 < now;
    })
    .map(({ id }) => `alert ${id}: a page was owed and nobody was paged`);
}

/** No merge ends an alert that nobody had acknowledged but for another such one; one that was reopened is such again. */
function heldOpen({ store }: Checked): string[] {
  const rows = store
    .sql(
      `SELECT t.id, t.alert_id AS alert, json_extract(t.detail, '$.into') AS kept FROM timeline t
       WHERE t.kind = 'resolved' AND json_extract(t.detail, '$.reason') = 'merged'`,
    )
    .all() as { id: number; alert: number; kept: string }[];
  const taken = store
    .sql(
      `SELECT kind IN ('acknowledged', 'resolved') FROM timeline WHERE alert_id = ? AND id < ?
         AND kind IN ('acknowledged', 'resolved', 'reopened', 'unacknowledged') ORDER BY id DESC LIMIT 1`,
    )
    .pluck();
  return rows
    .filter(
      ({ id, alert, kept }) => taken.get(alert, id) !== 1 && taken.get(Number(kept), id) === 1,
    )
    .map(({ alert, kept }) => `alert ${alert} was open and was ended by ${kept}, which was taken`);
}

/** What was taken or ended owes nobody anything any more, and its waiting pages are withdrawn; none of another's is. */
function withdrawn({ store }: Checked): string[] {
  const timed = store
    .sql(
      `SELECT id FROM alerts WHERE state <> 'open' AND (step_at IS NOT NULL OR repeat_at IS NOT NULL OR renotify_at IS NOT NULL)
         OR state = 'resolved' AND due_at IS NOT NULL`,
    )
    .pluck()
    .all();
  const pages = (which: string) =>
    store
      .sql(
        `SELECT DISTINCT a.id FROM deliveries d JOIN alerts a ON a.id = d.alert_id
         WHERE d.event IN ('alert.opened', 'alert.escalated', 'alert.renotified') AND ${which}`,
      )
      .pluck()
      .all();
  const taken = `EXISTS (SELECT 1 FROM timeline t WHERE t.alert_id = a.id AND t.kind IN ('acknowledged', 'resolved'))`;
  return [
    ...timed.map((id) => `alert ${id} is timed though it was taken`),
    ...pages("d.status = 'pending' AND a.state <> 'open'").map(
      (id) => `alert ${id} was taken and pages of it wait`,
    ),
    ...pages(`d.status = 'dropped' AND NOT ${taken}`).map(
      (id) => `a page of alert ${id} was withdrawn and nobody has it`,
    ),
  ];
}

/** Of one name, rule and identifiers one alert stands. */
function oneOfAName({ store }: Checked): string[] {
  const rows = store
    .sql(
      `SELECT dedup_key FROM alerts WHERE state <> 'resolved' AND dedup_key IS NOT NULL
       GROUP BY rule_id, dedup_key, identifiers HAVING count(*) > 1`,
    )
    .pluck()
    .all();
  return rows.map((name) => `two alerts of the name ${name}`);
}
