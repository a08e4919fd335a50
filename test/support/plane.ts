import { rmSync } from "node:fs";
import { join } from "node:path";
import { type AlertRow, getAlertRow } from "../../src/core/alerts/alert.ts";
import { createRule, deleteRule, replaceRule } from "../../src/core/alerts/rules.ts";
import { readTimeline, type TimelineEntry } from "../../src/core/alerts/timeline.ts";
import { acknowledge, resolve } from "../../src/core/alerts/verbs.ts";
import type { Layer } from "../../src/core/oncall/schedule.ts";
import { createProject, getProject } from "../../src/core/projects/projects.ts";
import { type RuleBody, ruleReplace, type StoredRule } from "../../src/core/projects/rule.ts";
import { createSource, type Source } from "../../src/core/projects/sources.ts";
import { silentLog } from "../../src/ground/kit/log.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import type { IngestAnswer } from "../../src/in/ingest/arrival.ts";
import { startTenant, type Tenant, type TenantOptions } from "../../src/tenant/tenant.ts";
import { type HandClock, handClock } from "./clock.ts";
import { newData } from "./data.ts";

/** An event as a test looks at it. */
export interface SeenEvent {
  /** Minutes since the start of the test, by the event's timestamp. */
  minute: number;
  event: string;
  level: number;
  accounts: string[];
}

/** A running data plane without HTTP, on a clock that is turned by hand. */
export interface Plane {
  readonly clock: HandClock;
  readonly tenant: Tenant;
  /** Wall time of the start, Unix seconds. */
  readonly start: number;
  account(id: string): void;
  removeAccount(id: string): void;
  schedule(name: string, layers: Layer[]): void;
  rule(body?: Partial<RuleBody>): StoredRule;
  /** Replaces the latest rule. */
  replaceRule(body: Partial<RuleBody>): StoredRule;
  deleteRule(): void;
  /** Sends one event, of a source that is made where there is none of the name; the answer. The latest alert is `last`. */
  fire(message?: string, level?: number, from?: string): Promise<IngestAnswer>;
  last(): AlertRow;
  alert(id: number): AlertRow;
  ack(id?: number): AlertRow;
  resolve(id?: number): AlertRow;
  /** Turns the clock by minutes. */
  minutes(n: number): Promise<void>;
  events(kind?: string): SeenEvent[];
  timeline(id?: number): TimelineEntry[];
  stop(): Promise<void>;
  /** Starts again on the same file. */
  again(): void;
  close(): Promise<void>;
}

/** What a rule is of which nothing was said. */
export const defaultRule: RuleBody = ruleReplace.parse({});

/** A step of a ladder: `step(10, ["ann"], { repeat: 5 })`. */
export function step(
  after_minutes: number,
  accounts: string[],
  more: { repeat?: number; schedules?: string[] } = {},
): RuleBody["escalations"][number] {
  return {
    accounts,
    schedules: more.schedules ?? [],
    after_minutes,
    repeat_minutes: more.repeat ?? 0,
  };
}

const PROJECT = "shop";

export function testPlane(
  clock: HandClock = handClock(),
  more: Partial<TenantOptions> = {},
): Plane {
  const directory = newData("box-plane-");
  const start = Math.floor(clock.now() / 1000);
  const fatal: unknown[] = [];
  const open = () =>
    startTenant({
      path: join(directory, "box.db"),
      role: "box",
      clock,
      random: systemRandom,
      log: silentLog,
      publicUrl: "",
      onFatal: (error) => void fatal.push(error),
      ...more,
    });
  let tenant = open();
  const sources = new Map<string, Source>();
  const sourceOf = (name: string): Source => {
    const known = sources.get(name);
    if (known !== undefined) return known;
    tenant.store.write((tx) =>
      createSource(tx, getProject(tx, PROJECT), {
        tenantId: tenant.id,
        name,
        retainLogs: false,
      }),
    );
    const row = tenant.store
      .sql("SELECT id, name, project_id AS projectId FROM sources WHERE name = ?")
      .get(name) as Source;
    sources.set(name, { ...row, retainLogs: false });
    return sourceOf(name);
  };
  tenant.store.write((tx) => void createProject(tx, PROJECT));
  const source = sourceOf("app");
  let rules = 0;
  const ruleName = () => `rule ${rules}`;
  const latest = () => tenant.store.sql("SELECT max(id) FROM alerts").pluck().get() as number;

  return {
    clock,
    get tenant() {
      return tenant;
    },
    start,
    account(id) {
      tenant.store.write((tx) =>
        tx
          .sql(
            `INSERT INTO accounts (id, email, email_folded, display_name, password_hash, role, created_at)
             VALUES (?, ?, ?, ?, '', 'member', ?)`,
          )
          .run(id, id, id, id, tx.at),
      );
    },
    removeAccount(id) {
      tenant.store.write((tx) => tx.sql("DELETE FROM accounts WHERE id = ?").run(id));
    },
    schedule(name, layers) {
      tenant.store.write((tx) =>
        tx
          .sql(
            `INSERT INTO schedules (id, project_id, name, timezone, layers, created_at, updated_at)
             VALUES (?, ?, ?, 'UTC', ?, ?, ?)`,
          )
          .run(name, source.projectId, name, JSON.stringify(layers), tx.at, tx.at),
      );
    },
    rule(body = {}) {
      rules += 1;
      return tenant.store.write((tx) =>
        createRule(tx, getProject(tx, PROJECT), {
          name: ruleName(),
          body: { ...defaultRule, ...body },
        }),
      );
    },
    replaceRule: (body) =>
      tenant.store.write((tx) =>
        replaceRule(tx, getProject(tx, PROJECT), {
          name: ruleName(),
          body: { ...defaultRule, ...body },
        }),
      ),
    deleteRule: () =>
      tenant.store.write((tx) => deleteRule(tx, getProject(tx, PROJECT), ruleName())),
    fire: (message = "disk is failing", level = 400, from = source.name) =>
      new Promise((done, failed) => {
        tenant.ingest.submit(
          sourceOf(from),
          [{ message, level, keys: null, tags: null }],
          (error, answers) => {
            const answer = answers?.[0];
            if (answer === undefined) failed(error);
            else done(answer);
          },
        );
      }),
    last: () => getAlertRow(tenant.store, latest()),
    alert: (id) => getAlertRow(tenant.store, id),
    ack: (id = latest()) => tenant.store.write((tx) => acknowledge(tx, id, "someone")),
    resolve: (id = latest()) =>
      tenant.store.write((tx) => resolve(tx, id, { accountId: "someone" })),
    minutes: (n) => clock.turn(n * 60_000),
    events(kind) {
      const rows = tenant.store
        .sql("SELECT body FROM events ORDER BY id")
        .pluck()
        .all() as string[];
      return rows
        .map((body) => JSON.parse(body))
        .filter(({ event }) => kind === undefined || event === kind)
        .map(({ timestamp, event, escalation_level, page_accounts }) => ({
          minute: (timestamp - start) / 60,
          event,
          level: escalation_level,
          accounts: page_accounts,
        }));
    },
    timeline: (id = latest()) => readTimeline(tenant.store, id),
    stop: () => tenant.stop(),
    again() {
      tenant = open();
    },
    async close() {
      await tenant.stop();
      rmSync(directory, { recursive: true, force: true });
      if (fatal.length > 0) throw new Error("a fatal storage error", { cause: fatal[0] });
    },
  };
}
