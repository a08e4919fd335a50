import assert from "node:assert/strict";
import type { TestBox } from "../support/box.ts";
import fc from "../support/property.ts";
import {
  type Answer,
  backupOf,
  Model,
  type ModelAlert,
  type ModelEvent,
  type Project,
  type RuleConfig,
  type Source,
} from "./model.ts";

/** One tenant's box beside the model of it. The names of a run are its own, so that boxes can be used again. */
export class Pair {
  readonly box: TestBox;
  readonly model: Model;
  /** `run` in front of each project's name. */
  readonly prefix: string;
  /** The newest alert before the run. */
  readonly base: number;
  readonly tokens = new WeakMap<Source, string>();
  /** A token that opened something until its source was deleted or it was rotated. */
  dead = "none";
  /** The id that each message first got in each project. */
  readonly #templates = new WeakMap<Project, Map<string, string>>();

  constructor(box: TestBox, prefix: string, base: number) {
    this.box = box;
    this.prefix = prefix;
    this.base = base;
    this.model = new Model(Math.floor(box.clock.now() / 1000), base);
  }

  project(name: string): string {
    return this.prefix + name;
  }

  path(project: string, rest = ""): string {
    return `/v1/projects/${this.project(project)}${rest}`;
  }

  /** The id that `message` had the first time it was seen in `project`; else it is `id` from now on. */
  templateId(project: Project, message: string, id: string): string {
    const known = this.#templates.get(project) ?? new Map<string, string>();
    this.#templates.set(project, known);
    const first = known.get(message) ?? id;
    known.set(message, first);
    return first;
  }

  source(project: string, name: string): Source | undefined {
    return this.model.projects.get(this.project(project))?.sources.get(name);
  }

  /** Everything that can be read is as the model has it. */
  async compare(): Promise<void> {
    const { box, model } = this;
    const pulled = (await box.api("GET", `/v1/pull?cursor=${this.base}`)).body;
    assert.deepEqual(
      pulled.alerts.map(ofBox),
      model.alerts.map((alert) => shown(alert, box.owner.accountId)),
      "alerts",
    );
    assert.equal(pulled.cursor, model.alerts.at(-1)?.id ?? pulled.cursor);
    const seqs = pulled.alerts.map((alert: { updated_seq: number }) => alert.updated_seq);
    assert.equal(new Set(seqs).size, seqs.length, "no two alerts changed at once");
    const listed = (await box.api("GET", `/v1/projects?after=${this.prefix}`)).body.projects;
    assert.deepEqual(
      listed.map(({ created_at: _, ...entry }: { created_at: number }) => entry),
      [...model.projects.values()]
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map((project) => ({
          name: project.name,
          version: project.version,
          default_ladder: null,
          source_count: project.sources.size,
          rule_count: project.rules.size,
          open_alert_count: model.alerts.filter(
            (alert) => alert.project === project && alert.state !== "resolved",
          ).length,
        })),
      "projects",
    );
  }
}

/** What the model has no numbers for is left out, and what follows from what it has is only held against that. */
function ofBox({
  updated_seq: _seq,
  template_id: _template,
  varied,
  varied_more: more,
  apart: _apart,
  title,
  title_parts: parts,
  ...alert
}: {
  updated_seq: number;
  template_id: string;
  varied: Record<string, string[]>;
  varied_more: string[];
  apart: unknown[];
  title: string;
  title_parts: { text: string }[];
  labels: Record<string, string>;
}): object {
  for (const [key, values] of Object.entries(varied)) {
    assert.ok(values.length > 1 && new Set(values).size === values.length, `${key}: ${values}`);
    assert.equal(values[0], alert.labels[key], "the value used last is the label's");
  }
  for (const key of more) assert.ok(Object.hasOwn(varied, key), key);
  assert.equal(parts.map(({ text }) => text).join(""), title);
  return alert;
}

function shown(alert: ModelAlert, by: string): object {
  const {
    id,
    project,
    rule: _rule,
    ruleName,
    key: _key,
    quietAt: _quiet,
    byHandAt: _,
    report: _r,
    promised: _p,
    part: _part,
    byHand,
    ...rest
  } = alert;
  return {
    ...rest,
    id: String(id),
    project: project.name,
    rule: ruleName,
    escalation_level: 0,
    page_accounts: [],
    acked_by: byHand ? by : null,
    silenced_by: null,
    acknowledged_until: null,
    details: null,
    links: [],
    images: [],
    occurred_at: null,
    drill: false,
  };
}

export type Pairs = readonly Pair[];
type Do = (pair: Pair) => Promise<void>;

/** One thing done to one tenant's box and to its model, and both compared afterwards. */
class Step implements fc.AsyncCommand<object, Pairs> {
  readonly tenant: number;
  readonly what: string;
  readonly act: Do;

  constructor(tenant: number, what: string, act: Do) {
    this.tenant = tenant;
    this.what = what;
    this.act = act;
  }

  check(): boolean {
    return true;
  }

  async run(_model: object, pairs: Pairs): Promise<void> {
    const pair = pairs[this.tenant] as Pair;
    await this.act(pair);
    await pair.compare();
  }

  toString(): string {
    return `${this.tenant}:${this.what}`;
  }
}

async function same(pair: Pair, expected: Answer, call: [string, string, object?]): Promise<void> {
  const answer = await pair.box.api(...call);
  assert.equal(
    answer.status,
    expected.status,
    `${call[0]} ${call[1]} ${JSON.stringify(answer.body)}`,
  );
}

const tenant = fc.constantFrom(0, 0, 0, 1);
const project = fc.constantFrom("a", "a", "a", "b");
const source = fc.constantFrom("s", "t");
const ruleName = fc.constantFrom("r", "q");

const config: fc.Arbitrary<RuleConfig> = fc.record({
  match: fc.record({
    min_level: fc.constantFrom(0, 0, 0, 400),
    sources: fc.constantFrom<string[]>([], [], [], ["s"]),
    tags: fc.constantFrom<string[]>([], [], [], ["db"]),
    template_contains: fc.constantFrom("", "", "", "", "disk", "customer alpha", "customer <*>"),
  }),
  conditions: fc.oneof(
    { weight: 3, arbitrary: fc.constant<RuleConfig["conditions"]>([]) },
    {
      weight: 1,
      arbitrary: fc.array(
        fc.record({
          key: fc.constant("n"),
          op: fc.constantFrom("eq" as const, "neq" as const, "gte" as const, "lte" as const),
          value: fc.constantFrom(5, "7", 6.5),
        }),
        { minLength: 1, maxLength: 2 },
      ),
    },
  ),
  fire_after: fc.record({
    count: fc.constantFrom(1, 2, 2, 3),
    distinct_sources: fc.constantFrom(1, 1, 1, 2),
    window_minutes: fc.integer({ min: 1, max: 2 }),
  }),
  auto_resolve_quiet_minutes: fc.constantFrom(0, 1, 2),
  identifier_keys: fc.constantFrom<string[]>([], ["host"]),
  investigate: fc.boolean(),
});

const event: fc.Arbitrary<ModelEvent> = fc.record({
  message: fc.constantFrom(
    "disk full",
    "login refused by the gate",
    // With the third of them their templates are one.
    ...["alpha", "alpha", "bravo", "bravo", "charlie"].map(backupOf),
  ),
  level: fc.constantFrom(200, 400, 500),
  keys: fc.record(
    { host: fc.constantFrom("x", "y"), n: fc.constantFrom(5, "7", "seven") },
    { requiredKeys: [] },
  ) as fc.Arbitrary<Record<string, string | number>>,
  tags: fc.constantFrom<string[]>([], ["db"]),
});

/** Of a sender that names its alerts. */
const named: fc.Arbitrary<ModelEvent> = fc
  .tuple(
    event,
    fc.record(
      {
        dedup_key: fc.constantFrom("k", "k", "l"),
        status: fc.constantFrom("firing", "firing", "firing", "acknowledged", "resolved"),
        instance: fc.constantFrom("100", "100", "200"),
        expires_in: fc.constantFrom(30, 90, 240),
      },
      { requiredKeys: ["dedup_key"] },
    ),
  )
  .map(([plain, more]) => ({ ...plain, ...more }) as ModelEvent);

const step = <T>(
  arbitrary: fc.Arbitrary<T>,
  name: string,
  act: (pair: Pair, value: T) => Promise<void>,
) =>
  fc
    .tuple(tenant, arbitrary)
    .map(
      ([n, value]) => new Step(n, `${name} ${JSON.stringify(value)}`, (pair) => act(pair, value)),
    );

async function ingest(
  pair: Pair,
  sent: { p: string; s: string; events: ModelEvent[] },
): Promise<void> {
  const { p, s, events } = sent;
  const name = pair.project(p);
  const from = pair.source(p, s);
  const messages = events.map(({ message }) => message);
  pair.model.read(name, s, messages);
  const expected = events.map((one) => pair.model.ingest(name, s, one));
  const answer = await fetch(`${pair.box.url}/v1/ingest`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${(from && pair.tokens.get(from)) ?? pair.dead}`,
      ...(events.length > 1 ? { "content-type": "application/x-ndjson" } : {}),
    },
    body: events.map((one) => JSON.stringify(wire(pair, one))).join("\n"),
  });
  type One = { alerted: boolean; template_id: string; resolved?: number };
  const body = (await answer.json()) as One & { results: One[] };
  assert.equal(answer.status, expected[0]?.status, JSON.stringify(body));
  const project = pair.model.projects.get(name);
  if (answer.status !== 202 || project === undefined) return;
  for (const [i, one] of (events.length > 1 ? body.results : [body]).entries()) {
    assert.equal(one.alerted, expected[i]?.alerted, `event ${i}`);
    assert.equal(one.resolved, expected[i]?.resolved, `event ${i}`);
    assert.equal(
      one.template_id,
      pair.templateId(project, events[i]?.message ?? "", one.template_id),
    );
  }
}

/** The event as it is sent: promises are times. */
function wire(pair: Pair, { expires_in, ...event }: ModelEvent): object {
  return expires_in === undefined
    ? event
    : { ...event, expires_at: Math.floor(pair.box.clock.now() / 1000) + expires_in };
}

/** Something to work on: a project with two sources and two rules, one of which counts by host. */
export async function begin(pair: Pair): Promise<void> {
  const name = pair.project("a");
  await same(pair, pair.model.createProject(name), ["POST", "/v1/projects", { name }]);
  for (const s of ["s", "t"]) await makeSource(pair, { p: "a", s });
  const counted: RuleConfig = {
    match: { min_level: 0, sources: [], tags: [], template_contains: "" },
    conditions: [],
    fire_after: { count: 2, distinct_sources: 1, window_minutes: 1 },
    auto_resolve_quiet_minutes: 1,
    identifier_keys: ["host"],
    investigate: false,
  };
  const loud: RuleConfig = {
    ...counted,
    match: { ...counted.match, min_level: 500 },
    fire_after: { ...counted.fire_after, count: 1 },
    auto_resolve_quiet_minutes: 0,
    identifier_keys: [],
  };
  for (const [r, config] of Object.entries({ q: counted, r: loud }))
    await createRule(pair, { p: "a", r, config });
}

async function createRule(
  pair: Pair,
  { p, r, config }: { p: string; r: string; config: RuleConfig },
): Promise<void> {
  const expected = pair.model.createRule(pair.project(p), r, config);
  await same(pair, expected, ["POST", pair.path(p, "/rules"), { name: r, ...config }]);
}

async function makeSource(pair: Pair, { p, s }: { p: string; s: string }): Promise<void> {
  const expected = pair.model.createSource(pair.project(p), s);
  const answer = await pair.box.api("POST", pair.path(p, "/sources"), { name: s });
  assert.equal(answer.status, expected.status);
  const made = pair.source(p, s);
  if (answer.status === 201 && made) pair.tokens.set(made, answer.body.token);
}

async function rotate(pair: Pair, { p, s }: { p: string; s: string }): Promise<void> {
  const of = pair.source(p, s);
  const answer = await pair.box.api("POST", pair.path(p, `/sources/${s}/rotate-token`));
  assert.equal(answer.status, of ? 200 : 404);
  if (of === undefined) return;
  pair.dead = pair.tokens.get(of) ?? pair.dead;
  pair.tokens.set(of, answer.body.token);
}

async function dropSource(pair: Pair, { p, s }: { p: string; s: string }): Promise<void> {
  const of = pair.source(p, s);
  const expected = pair.model.deleteSource(pair.project(p), s);
  await same(pair, expected, ["DELETE", pair.path(p, `/sources/${s}`)]);
  if (of && expected.status === 200) pair.dead = pair.tokens.get(of) ?? pair.dead;
}

/** Acks or resolves one of the run's alerts, or one past the newest. */
async function change(
  pair: Pair,
  { nth, to }: { nth: number; to: "ack" | "resolve" },
): Promise<void> {
  const id = pair.model.alerts[nth]?.id ?? pair.base + 1_000_000;
  const expected = pair.model.change(id, to === "ack" ? "acknowledged" : "resolved");
  await same(pair, expected, ["POST", `/v1/alerts/${id}/${to}`]);
}

const inProject = fc.record({ p: project, s: source });
const ruled = fc.record({ p: project, r: ruleName, config });
const weighted: [number, fc.Arbitrary<Step>][] = [
  [
    3,
    step(project, "create project", (pair, p) => {
      const expected = pair.model.createProject(pair.project(p));
      return same(pair, expected, ["POST", "/v1/projects", { name: pair.project(p) }]);
    }),
  ],
  [
    1,
    step(fc.constantFrom("a", "b", "b", "b"), "delete project", (pair, p) =>
      same(pair, pair.model.deleteProject(pair.project(p)), ["DELETE", pair.path(p)]),
    ),
  ],
  [
    1,
    step(fc.record({ p: project, to: project }), "rename project", (pair, { p, to }) => {
      const expected = pair.model.renameProject(pair.project(p), pair.project(to));
      return same(pair, expected, ["POST", pair.path(p, "/rename"), { name: pair.project(to) }]);
    }),
  ],
  [4, step(inProject, "create source", makeSource)],
  [1, step(inProject, "delete source", dropSource)],
  [1, step(inProject, "rotate token", rotate)],
  [2, step(ruled, "create rule", createRule)],
  [
    2,
    step(ruled, "replace rule", (pair, { p, r, config }) => {
      const expected = pair.model.replaceRule(pair.project(p), r, config);
      return same(pair, expected, ["PUT", pair.path(p, `/rules/${r}`), config]);
    }),
  ],
  [
    1,
    step(fc.record({ p: project, r: ruleName }), "put rule back", async (pair, { p, r }) => {
      const config = pair.model.projects.get(pair.project(p))?.rules.get(r)?.config;
      const expected = config
        ? pair.model.replaceRule(pair.project(p), r, config)
        : { status: 404 };
      await same(pair, expected, ["PUT", pair.path(p, `/rules/${r}`), config ?? {}]);
    }),
  ],
  [
    1,
    step(fc.record({ p: project, r: ruleName }), "delete rule", (pair, { p, r }) =>
      same(pair, pair.model.deleteRule(pair.project(p), r), [
        "DELETE",
        pair.path(p, `/rules/${r}`),
      ]),
    ),
  ],
  [
    12,
    step(
      fc.record({ p: project, s: source, events: fc.array(event, { minLength: 1, maxLength: 4 }) }),
      "ingest",
      ingest,
    ),
  ],
  [
    8,
    step(
      fc.record({ p: project, s: source, events: fc.array(named, { minLength: 1, maxLength: 4 }) }),
      "ingest named",
      ingest,
    ),
  ],
  [
    3,
    step(
      fc.record({ nth: fc.nat(4), to: fc.constantFrom("ack" as const, "resolve" as const) }),
      "change",
      change,
    ),
  ],
  [
    3,
    step(fc.constantFrom(1, 20, 40, 59, 60, 61, 120, 1800), "turn", async (pair, seconds) => {
      pair.model.turn(seconds);
      await pair.box.clock.turn(seconds * 1000);
    }),
  ],
  [
    1,
    step(fc.constant("now"), "restart", (pair) => {
      pair.model.restart();
      return pair.box.restart();
    }),
  ],
];

/** Sequences of at most `most` commands; what matters most comes most often. */
export const commands = (most: number) =>
  fc.commands(
    weighted.flatMap(([weight, arbitrary]) => Array<fc.Arbitrary<Step>>(weight).fill(arbitrary)),
    { maxCommands: most, size: "max" },
  );
