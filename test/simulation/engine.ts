import { copyFileSync, rmSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { getAlertRow } from "../../src/core/alerts/alert.ts";
import { setFallback } from "../../src/core/alerts/fallback.ts";
import { createRule, replaceRule } from "../../src/core/alerts/rules.ts";
import { createSweep, defaultSweepLimits } from "../../src/core/alerts/sweep.ts";
import { acknowledge, resolve, unacknowledge } from "../../src/core/alerts/verbs.ts";
import { insertLadder } from "../../src/core/projects/ladders.ts";
import { createProject, getProject } from "../../src/core/projects/projects.ts";
import type { RuleBody } from "../../src/core/projects/rule.ts";
import { createSource, type Source } from "../../src/core/projects/sources.ts";
import type { Clock } from "../../src/ground/kit/clock.ts";
import { type Log, silentLog } from "../../src/ground/kit/log.ts";
import { steadyClock } from "../../src/ground/kit/steady-clock.ts";
import { openSqlite } from "../../src/ground/store/database.ts";
import { getMeta } from "../../src/ground/store/meta.ts";
import { takeSnapshot } from "../../src/ground/store/snapshot.ts";
import { openStore, type Store } from "../../src/ground/store/store.ts";
import type { IngestEvent } from "../../src/in/ingest/event.ts";
import type { NamedState } from "../../src/in/ingest/named-fields.ts";
import { createWriter, defaultWriterLimits } from "../../src/in/ingest/writer.ts";
import { settle } from "../../src/records/backup/restored.ts";
import { startClockWatch } from "../../src/tenant/clock-watch.ts";
import { addByConfig, dropByConfig, renameByConfig } from "./config.ts";
import type { Fact, Named } from "./facts.ts";
import { keysOf } from "./labels.ts";
import type { Seeded } from "./seeded.ts";
import { type LadderVerbs, ladderVerbs, meant } from "./shared.ts";
import { BEGIN, lineOf, PEOPLE, WORDS, type World } from "./world.ts";

/** The machine's clocks, turned by hand and at once: nothing here waits. Whole seconds. */
export interface Machine extends Clock {
  pass(seconds: number): void;
  jump(seconds: number): void;
}

export function machine(): Machine {
  let mono = 0;
  let offset = BEGIN * 1000;
  return {
    now: () => offset + mono,
    mono: () => mono,
    after() {
      throw new Error("nothing here sets timers");
    },
    pass(seconds) {
      mono += Math.round(seconds * 1000);
    },
    jump(seconds) {
      offset += seconds * 1000;
    },
  };
}

/** The real parts over a real file, with the loop's part played by `look`. Everything done is told as facts. */
export interface Engine {
  readonly store: Store;
  readonly facts: Fact[];
  /** Errors that were logged. */
  readonly errors: unknown[];
  /** When due work wants to be looked at next, in Unix seconds of the box; null = when told. */
  nextLook(): number | null;
  now(): number;
  /** What one turn of the loop does. */
  look(): void;
  /** The clock's part of a turn alone. */
  beat(): void;
  event(rule: number, host: string, word?: string, named?: Named | null): void;
  /** Events as they are, of any source; told as no fact. */
  submit(source: Source, events: readonly IngestEvent[]): void;
  /** Whose events `event` sends. */
  readonly source: Source;
  /** What a sender says of an alert it named, other than that it fires. */
  conclude(said: Omit<Extract<Fact, { what: "concluded" }>, "what" | "wall">): void;
  /** The rule of each kind of line as it is now; null: it was removed. */
  readonly rules: readonly (RuleBody | null)[];
  /** Replaces a rule, while alerts of it may be standing. */
  rule(rule: number, body: RuleBody): void;
  /** Removes a rule by the project's configuration, which changes nothing else. Whether it could. */
  drop(rule: number): boolean;
  /** Makes one that was removed again, by its old name. Whether it could. */
  add(rule: number, body: RuleBody): boolean;
  /** Gives a rule another name by the project's configuration, which changes nothing else: no fact. Whether it could. */
  rename(rule: number): boolean;
  readonly ladders: LadderVerbs;
  ack(alert: number): void;
  unack(alert: number): void;
  resolve(alert: number): void;
  remove(account: string): void;
  /**
   * `crash`: nothing is written on the way out. The machine's clock moves by `seconds`, then jumps by `hidden`. `from`: a backup
   * is put in the store's place meanwhile.
   */
  restart(off: { seconds: number; hidden: number; crash: boolean; from?: string | null }): void;
  backup(to: string): void;
  close(): void;
}

export function startEngine(options: {
  path: string;
  world: World;
  machine: Machine;
  random: Seeded;
}): Engine {
  const { path, world, random } = options;
  const facts: Fact[] = [];
  const errors: unknown[] = [];
  const log: Log = {
    ...silentLog,
    warn: () => {},
    error: (what: unknown) => void errors.push(what),
  };
  let next: number | null = null;
  let looks = 0;
  const names = world.rules.map((_, i) => `rule ${i}`);
  const rules: (RuleBody | null)[] = [...world.rules];
  const wake = (at: number) => {
    next = next === null ? at : Math.min(next, at);
  };

  const open = () => {
    const clock = steadyClock(options.machine);
    const store = openStore({ path, kind: "box", clock, random });
    store.onCommit((notes) => {
      for (const note of notes)
        if (note.topic === "due") wake(note.at);
        else if (note.topic === "waiting") wake(Math.floor(clock.now() / 1000));
    });
    const writer = createWriter(store, defaultWriterLimits);
    const watch = startClockWatch({ store, clock, log });
    const sweep = createSweep(store, log, defaultSweepLimits, writer.laterReport);
    next = Math.floor(clock.now() / 1000);
    return { store, clock, writer, watch, sweep };
  };
  let parts = open();
  build(parts.store, world);
  const source: Source = {
    ...(parts.store.sql("SELECT id, name, project_id AS projectId FROM sources").get() as Source),
    retainLogs: false,
  };
  const now = () => Math.floor(parts.clock.now() / 1000);
  facts.push({ what: "started", wall: now(), down: 0, kept: [], isAgain: false });
  const { ladders: shared } = world;
  const ladders = ladderVerbs({ store: () => parts.store, now, facts, rules, shared });

  const beat = () => {
    const { clock, watch } = parts;
    const by = clock.jump() / 1000;
    watch.job.run(now());
    if (by !== 0) facts.push({ what: "jumped", by });
  };

  const send = (event: Pick<IngestEvent, "message" | "keys" | "named">) =>
    void parts.writer.process([{ source, event: { ...event, level: 400, tags: null } }]);
  const namedState = (action: NamedState["action"], named: Named | null): NamedState | null =>
    named && {
      action,
      dedupKey: named.key,
      instance: named.instance,
      expiresAt: named.lasts === null ? null : now() + named.lasts,
    };
  /** What the files have of each alert whose latest report is only in memory. */
  const keptReports = () => {
    const rows = parts.store
      .sql(
        "SELECT id, alert_key, promised AS lasts, last_seen AS seen FROM alerts WHERE state <> 'resolved'",
      )
      .all() as { id: number; alert_key: string; lasts: number | null; seen: number }[];
    return rows
      .filter((row) => parts.writer.laterReport(row) !== null)
      .map(({ id, lasts, seen }) => ({ alert: id, lasts, seen }));
  };

  return {
    get store() {
      return parts.store;
    },
    facts,
    errors,
    nextLook: () => next,
    now,
    beat,
    look() {
      // The loop looks at the clock every second; here often enough, and always after a jump.
      looks += 1;
      if (looks % 5 === 0 || parts.clock.jump() !== 0) beat();
      facts.push({ what: "looked", wall: now() });
      let opens: number | null;
      do opens = parts.writer.openWaiting();
      while (opens !== null && opens <= now());
      let searches: number | null;
      do searches = parts.writer.lookForMissing();
      while (searches !== null && searches <= now());
      do next = parts.sweep.run(parts.watch.upSince());
      while (next !== null && next <= now());
      for (const at of [opens, searches]) if (at !== null) wake(at);
    },
    event(rule, host, word = WORDS[0], named = null) {
      facts.push({ what: "event", wall: now(), rule, host, word, named });
      send({
        message: lineOf(rule, word),
        keys: keysOf({ host, wall: now() }),
        named: namedState("fire", named),
      });
    },
    submit(from, events) {
      parts.writer.process(events.map((event) => ({ source: from, event })));
    },
    source,
    conclude(said) {
      facts.push({ what: "concluded", wall: now(), ...said });
      const action = said.status === "resolved" ? "resolve" : "acknowledge";
      const named = namedState(action, { ...said, lasts: null });
      send({ message: lineOf(said.rule, said.word), keys: null, named });
    },
    rules,
    ladders,
    rule(rule, body) {
      facts.push({ what: "ruled", wall: now(), rule, body });
      parts.store.write((tx) =>
        replaceRule(tx, getProject(tx, "p"), { name: names[rule] as string, body }),
      );
      rules[rule] = meant(ladders.shared, rules[rule] ?? undefined, body);
    },
    rename(rule) {
      const from = names[rule] as string;
      const to = `${from}'`;
      const renamed = rules[rule] !== null && renameByConfig(parts.store, { from, to });
      if (renamed) names[rule] = to;
      return renamed;
    },
    drop(rule) {
      const wall = now();
      const dropped = rules[rule] !== null && dropByConfig(parts.store, names[rule] as string);
      if (!dropped) return false;
      facts.push({ what: "dropped", wall, rule, id: dropped.id, ends: dropped.before });
      const { before, after } = dropped;
      if (!isDeepStrictEqual(before, after)) errors.push({ said: before, ended: after });
      rules[rule] = null;
      return true;
    },
    add(rule, body) {
      const id = addByConfig(parts.store, { name: names[rule] as string, body });
      if (id === null) return false;
      facts.push({ what: "added", wall: now(), rule, id, body });
      rules[rule] = body;
      return true;
    },
    ack(alert) {
      facts.push({ what: "acked", wall: now(), alert });
      parts.store.write((tx) => acknowledge(tx, alert, "ann"));
    },
    unack(alert) {
      facts.push({ what: "unacked", wall: now(), alert });
      parts.store.write((tx) => {
        if (getAlertRow(tx, alert).state !== "resolved") unacknowledge(tx, alert, "ann");
      });
    },
    resolve(alert) {
      facts.push({ what: "resolved", wall: now(), alert });
      parts.store.write((tx) => resolve(tx, alert, { accountId: "ann" }));
    },
    remove(account) {
      facts.push({ what: "removed", account });
      parts.store.write((tx) => tx.sql("DELETE FROM accounts WHERE id = ?").run(account));
    },
    backup(to) {
      const { db, clock } = parts.store;
      takeSnapshot({ db, kind: "box", to, clock, isServing: true });
    },
    restart({ seconds, hidden, crash, from = null }) {
      const kept = crash ? keptReports() : [];
      if (!crash) {
        parts.writer.finish();
        parts.watch.stop();
      }
      let alive = Number(getMeta(parts.store, "last_alive"));
      parts.store.close();
      options.machine.pass(seconds);
      options.machine.jump(hidden);
      if (from !== null) alive = putBack(path, from, Math.floor(options.machine.now() / 1000));
      parts = open();
      const down = now() - alive;
      // Behind the last time it was alive: the box can't know how long it was off.
      if (down < 0) facts.push({ what: "jumped", by: down });
      facts.push({ what: "started", wall: now(), down: Math.max(0, down), kept, isAgain: true });
    },
    close() {
      parts.store.close();
    },
  };
}

/** Puts a backup in the store's place; when its box was last alive. */
function putBack(path: string, from: string, now: number): number {
  for (const end of ["-wal", "-shm"]) rmSync(path + end, { force: true });
  copyFileSync(from, path);
  const db = openSqlite(path);
  settle(db, { pending: "auto", wasServing: true, takenAt: now, now, replaced: null });
  const alive = db.prepare("SELECT value FROM meta WHERE key = 'last_alive'").pluck().get();
  db.close();
  return Number(alive);
}

function build(store: Store, world: World): void {
  store.write((tx) => {
    for (const id of PEOPLE)
      tx.sql(
        `INSERT INTO accounts (id, email, email_folded, display_name, password_hash, role, created_at)
         VALUES (?, ?, ?, ?, '', 'member', ?)`,
      ).run(id, id, id, id, tx.at);
    createProject(tx, "p");
    const project = getProject(tx, "p");
    createSource(tx, project, { tenantId: "0".repeat(16), name: "app", retainLogs: false });
    tx.sql("INSERT INTO meta (key, value) VALUES ('tenant_id', 't')").run();
    for (const { name, participants, start, shift, hours, take } of world.rotas) {
      const restriction =
        hours === null
          ? null
          : { days: [], start_minute: hours.from * 60, end_minute: hours.until * 60 };
      const layers = [
        { name, participants, rotation_start: start, shift_minutes: shift / 60, restriction, take },
      ];
      tx.sql(
        `INSERT INTO schedules (id, project_id, name, timezone, layers, created_at, updated_at, shared)
         VALUES (?, ?, ?, 'UTC', ?, ?, ?, 1)`,
      ).run(name, project.id, name, JSON.stringify(layers), tx.at, tx.at);
    }
    // Where pages wait for as long as the story lasts: what is withdrawn shows.
    tx.sql(
      `INSERT INTO integrations (id, project_id, name, type, url, enabled, event_filter, relay, created_at)
       VALUES ('relay', ?, 'relay', 'webhook', '', 1, 'alert.escalated,alert.opened,alert.renotified', 1, ?)`,
    ).run(project.id, tx.at);
    for (const [name, body] of world.ladders) insertLadder(tx, { name, ...body });
    setFallback(tx, { accounts: world.fallback, schedules: [] });
    world.rules.forEach((body, i) => {
      createRule(tx, project, { name: `rule ${i}`, body });
    });
  });
}
