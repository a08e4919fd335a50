import type { Store } from "../../src/store/store.ts";
import type { Fact, LogEvent } from "./facts.ts";
import { onCall } from "./reference.ts";
import type { World } from "./world.ts";

interface Checked {
  store: Store;
  world: World;
  log: readonly LogEvent[];
  facts: readonly Fact[];
  now: number;
}

/** The laws that hold for any story, read off the log without knowing how it came about. */
export function check(checked: Checked): string[] {
  const alerts = Map.groupBy(checked.log, ({ alert }) => alert);
  return [
    ...[...alerts].flatMap(([alert, events]) => [
      ...silentOnceTaken(alert, events),
      ...oneASecond(alert, events),
      ...onlyThoseOnStep(alert, events, checked),
    ]),
    ...withinCap(checked),
    ...goesOn(checked),
  ];
}

const PAGES = ["alert.opened", "alert.escalated", "alert.renotified"];

/** No page after ack or resolve; and one acknowledgement, one resolve at most. */
function silentOnceTaken(alert: number, events: readonly LogEvent[]): string[] {
  const kinds = events.map(({ event }) => event);
  const taken = kinds.findIndex(
    (kind) => kind === "alert.acknowledged" || kind === "alert.resolved",
  );
  const after = taken === -1 ? [] : kinds.slice(taken + 1);
  const pages = after.filter((kind) => PAGES.includes(kind));
  const twice = ["alert.opened", "alert.acknowledged", "alert.resolved"].filter(
    (kind) => kinds.filter((other) => other === kind).length > 1,
  );
  return [
    ...(kinds[0] === "alert.opened" ? [] : [`alert ${alert} begins with ${kinds[0]}`]),
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

/** Nobody is paged who isn't on a step or on call, at the time the history gives. */
function onlyThoseOnStep(
  alert: number,
  events: readonly LogEvent[],
  { store, world }: Checked,
): string[] {
  const rule =
    world.rules[
      (store.sql("SELECT rule_id FROM alerts WHERE id = ?").pluck().get(alert) as number) - 1
    ];
  const times = store
    .sql("SELECT at FROM timeline WHERE alert_id = ? AND kind = 'escalated' ORDER BY id")
    .pluck()
    .all(alert) as number[];
  return events
    .filter(({ event }) => event === "alert.escalated")
    .flatMap(({ accounts, level }, i) => {
      const steps = rule?.escalations.slice(0, level) ?? [];
      const named = new Set(steps.flatMap((step) => step.accounts));
      for (const name of steps.flatMap((step) => step.schedules)) {
        const rota = world.rotas.find((one) => one.name === name);
        const account = rota === undefined ? null : onCall(rota, times[i] ?? 0);
        if (account !== null) named.add(account);
      }
      return accounts
        .filter((account) => !named.has(account))
        .map((account) => `alert ${alert}: ${account} was paged for step ${level} and isn't on it`);
    });
}

/** Renotify by interval stays within its cap. */
function withinCap({ store, world }: Checked): string[] {
  const rows = store
    .sql(
      `SELECT a.id, a.rule_id AS rule, count(*) AS n FROM timeline t JOIN alerts a ON a.id = t.alert_id
       WHERE t.kind = 'renotified' AND json_extract(t.detail, '$.why') = 'interval' GROUP BY a.id`,
    )
    .all() as { id: number; rule: number; n: number }[];
  return rows
    .filter(({ rule, n }) => {
      const cap = world.rules[rule - 1]?.max_renotify ?? 0;
      return cap > 0 && n > cap;
    })
    .map(({ id, n }) => `alert ${id}: ${n} renotifies`);
}

/** Every open alert whose ladder has a step or a repeat to come has it ahead, and due_at is never late. */
function goesOn({ store, world, now }: Checked): string[] {
  const rows = store
    .sql(
      "SELECT id, rule_id, step, step_at, repeat_at, renotify_at, quiet_at, due_at FROM alerts WHERE state = 'open'",
    )
    .all() as Record<string, number | null>[];
  return rows.flatMap((row) => {
    const ladder = world.rules[(row["rule_id"] ?? 0) - 1]?.escalations ?? [];
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
