/**
 * What the contract says of projects, sources, rules and alerts, as plainly as it can
 * be said: no store, no cache, no index. Times are Unix seconds.
 */

export interface RuleConfig {
  match: { min_level: number; sources: string[]; tags: string[]; template_contains: string };
  conditions: { key: string; op: "eq" | "neq" | "gte" | "lte"; value: string | number }[];
  fire_after: { count: number; distinct_sources: number; window_minutes: number };
  auto_resolve_quiet_minutes: number;
  identifier_keys: string[];
  investigate: boolean;
}

export interface ModelEvent {
  message: string;
  level: number;
  keys: Record<string, string | number>;
  tags: string[];
  /** Of a sender that names its alerts. */
  dedup_key?: string;
  status?: "firing" | "acknowledged" | "resolved";
  instance?: string;
  /** Seconds from now. */
  expires_in?: number;
}

export interface ModelAlert {
  id: number;
  project: Project;
  rule: Rule;
  ruleName: string;
  /** What it is counted under, besides the rule. */
  key: string;
  state: "open" | "acknowledged" | "resolved";
  template: string;
  identifiers: Record<string, string>;
  /** Each key of its events with its last value. */
  labels: Record<string, string>;
  level: number;
  count: number;
  first_seen: number;
  last_seen: number;
  last_message: string;
  investigate: boolean;
  opened_at: number;
  acked_at: number | null;
  /** Whether a person did, who is always the same here. */
  byHand: boolean;
  resolved_at: number | null;
  quietAt: number | null;
  dedup_key: string | null;
  instance: string | null;
  expires_at: number | null;
  /** When a person resolved it. */
  byHandAt: number | null;
  /** The latest report of the same firing that is not written: it counts, and is seen when something is due. */
  report: { seen: number; expires_at: number | null } | null;
  /** How long the promise was when it was made. */
  promised: number;
  /** The part of a request that wrote it last. */
  part: number;
}

export interface Source {
  name: string;
}

interface Hit {
  at: number;
  /** Rises with each hit and each resolve. */
  order: number;
  source: Source;
  level: number;
  labels: Record<string, string>;
}

export interface Rule {
  config: RuleConfig;
  /** Matches that haven't fired yet, by what makes an alert's key besides the rule. */
  hits: Map<string, Hit[]>;
  /** When an alert of the key was last resolved, in the order of hits. */
  resolved: Map<string, number>;
}

export interface Project {
  name: string;
  version: number;
  sources: Map<string, Source>;
  rules: Map<string, Rule>;
  /** Customers that lines of a backup have named, in order. With the third they are one template. */
  customers: string[];
}

export interface Answer {
  status: number;
  alerted?: boolean;
  resolved?: number;
}

const byName = <T>(map: Map<string, T>): [string, T][] =>
  [...map].sort(([a], [b]) => (a < b ? -1 : 1));

export class Model {
  now: number;
  projects = new Map<string, Project>();
  alerts: ModelAlert[] = [];
  #lastId: number;
  #order = 0;
  /** Rises with each request, and where a word in it ends or acknowledges: what came before is written then. */
  #part = 0;

  constructor(now: number, lastId: number) {
    this.now = now;
    this.#lastId = lastId;
  }

  createProject(name: string): Answer {
    if (this.projects.has(name)) return { status: 409 };
    this.projects.set(name, {
      name,
      version: 1,
      sources: new Map(),
      rules: new Map(),
      customers: [],
    });
    return { status: 201 };
  }

  deleteProject(name: string): Answer {
    const project = this.projects.get(name);
    if (project === undefined) return { status: 404 };
    this.projects.delete(name);
    this.alerts = this.alerts.filter((alert) => alert.project !== project);
    return { status: 200 };
  }

  renameProject(name: string, to: string): Answer {
    const project = this.projects.get(name);
    if (project === undefined) return { status: 404 };
    if (name === to) return { status: 200 };
    if (this.projects.has(to)) return { status: 409 };
    this.projects.delete(name);
    this.projects.set(to, project);
    project.name = to;
    project.version++;
    return { status: 200 };
  }

  createSource(projectName: string, name: string): Answer {
    const project = this.projects.get(projectName);
    if (project === undefined) return { status: 404 };
    if (project.sources.has(name)) return { status: 409 };
    project.sources.set(name, { name });
    project.version++;
    return { status: 201 };
  }

  deleteSource(projectName: string, name: string): Answer {
    const project = this.projects.get(projectName);
    if (!project?.sources.has(name)) return { status: 404 };
    const named = [...project.rules.values()].some(({ config }) =>
      config.match.sources.includes(name),
    );
    if (named) return { status: 409 };
    project.sources.delete(name);
    project.version++;
    return { status: 200 };
  }

  createRule(projectName: string, name: string, config: RuleConfig): Answer {
    const project = this.projects.get(projectName);
    if (project === undefined) return { status: 404 };
    if (project.rules.has(name)) return { status: 409 };
    project.rules.set(name, { config, hits: new Map(), resolved: new Map() });
    project.version++;
    return { status: 201 };
  }

  replaceRule(projectName: string, name: string, config: RuleConfig): Answer {
    const project = this.projects.get(projectName);
    const rule = project?.rules.get(name);
    if (project === undefined || rule === undefined) return { status: 404 };
    if (JSON.stringify(rule.config) === JSON.stringify(config)) return { status: 200 };
    for (const alert of this.alerts) if (alert.rule === rule) this.#requiet(alert, rule, config);
    rule.config = config;
    rule.hits.clear();
    project.version++;
    return { status: 200 };
  }

  deleteRule(projectName: string, name: string): Answer {
    const project = this.projects.get(projectName);
    const rule = project?.rules.get(name);
    if (project === undefined || rule === undefined) return { status: 404 };
    project.rules.delete(name);
    for (const alert of this.alerts) if (alert.rule === rule) alert.quietAt = null;
    project.version++;
    return { status: 200 };
  }

  /** The messages of a request are all read before any of them counts: what they name may make templates one. */
  read(projectName: string, sourceName: string, messages: readonly string[]): void {
    this.#part++;
    const project = this.projects.get(projectName);
    if (project?.sources.get(sourceName) === undefined) return;
    for (const customer of messages.map(customerOf)) {
      if (customer === null || project.customers.includes(customer)) continue;
      project.customers.push(customer);
      if (project.customers.length === MERGED_AT) this.#merge(project);
    }
  }

  ingest(projectName: string, sourceName: string, event: ModelEvent): Answer {
    const project = this.projects.get(projectName);
    const source = project?.sources.get(sourceName);
    if (project === undefined || source === undefined) return { status: 401 };
    const { status = "firing" } = event;
    if (event.dedup_key !== undefined && status !== "firing")
      return { status: 202, ...this.#conclude(project, event) };
    let alerted = false;
    for (const [name, rule] of byName(project.rules))
      if (
        matches(rule.config, source, { ...event, text: textOf(project, event.message) }) &&
        this.#count({ project, name, rule }, source, event)
      )
        alerted = true;
    return { status: 202, alerted };
  }

  change(id: number, to: "acknowledged" | "resolved"): Answer {
    const alert = this.alerts.find((one) => one.id === id);
    if (alert === undefined) return { status: 404 };
    if (alert.state === "open" || (alert.state === "acknowledged" && to === "resolved")) {
      if (to === "resolved") {
        this.#resolve(alert);
        alert.byHandAt = this.now;
      } else Object.assign(alert, { state: to, acked_at: this.now, byHand: true });
    }
    return { status: 200 };
  }

  turn(seconds: number): void {
    const until = this.now + seconds;
    for (let due = this.#nextDue(until); due !== null; due = this.#nextDue(until)) {
      this.now = Math.max(this.now, due);
      this.#settle();
    }
    this.now = until;
  }

  /** A stop writes what was only reported; from the start on each promise runs whole again. */
  restart(): void {
    for (const alert of this.alerts) {
      if (alert.state === "resolved") continue;
      this.#writeReport(alert, this.#quietOf(alert));
      if (alert.expires_at !== null && this.#isLive(alert))
        alert.expires_at = Math.max(alert.expires_at, this.now + alert.promised);
    }
  }

  #isLive({ project, rule }: ModelAlert): boolean {
    return [...project.rules.values()].includes(rule);
  }

  #quietOf(alert: ModelAlert): number {
    return this.#isLive(alert) ? alert.rule.config.auto_resolve_quiet_minutes * 60 : 0;
  }

  #nextDue(until: number): number | null {
    const ends = this.alerts
      .filter(({ state }) => state !== "resolved")
      .flatMap((alert) => [alert.quietAt, this.#isLive(alert) ? alert.expires_at : null])
      .filter((at) => at !== null && at <= until);
    return ends.length === 0 ? null : Math.min(...(ends as number[]));
  }

  #settle(): void {
    const isOver = (at: number | null) => at !== null && at <= this.now;
    for (const alert of this.alerts) {
      if (alert.state === "resolved") continue;
      const expiresAt = this.#isLive(alert) ? alert.expires_at : null;
      if (!isOver(alert.quietAt) && !isOver(expiresAt)) continue;
      const quiet = this.#quietOf(alert);
      const { report } = alert;
      if (report !== null) {
        const quietAt = quiet === 0 ? null : Math.max(alert.quietAt ?? 0, report.seen + quiet);
        if (!isOver(quietAt) && !isOver(report.expires_at)) {
          this.#writeReport(alert, quiet);
          continue;
        }
      }
      this.#resolve(alert);
    }
  }

  #writeReport(alert: ModelAlert, quiet: number): void {
    const { report } = alert;
    if (report === null) return;
    alert.report = null;
    alert.last_seen = report.seen;
    alert.expires_at = report.expires_at;
    alert.promised = (report.expires_at ?? 0) - report.seen;
    if (alert.quietAt !== null && quiet > 0)
      alert.quietAt = Math.max(alert.quietAt, report.seen + quiet);
  }

  #resolve(alert: ModelAlert): void {
    alert.state = "resolved";
    alert.resolved_at = this.now;
    alert.quietAt = null;
    alert.expires_at = null;
    alert.rule.resolved.set(alert.key, ++this.#order);
  }

  /** A sender's word about alerts that it named, other than that they fire. */
  #conclude(project: Project, event: ModelEvent): { alerted: boolean; resolved?: number } {
    this.#part++;
    const standing = this.alerts.filter(
      (one) =>
        one.project === project && one.dedup_key === event.dedup_key && one.state !== "resolved",
    );
    if (event.status === "acknowledged") {
      for (const one of standing.filter(({ state }) => state === "open"))
        Object.assign(one, { state: "acknowledged", acked_at: this.now });
      return { alerted: standing.length > 0 };
    }
    const ended = standing.filter(
      ({ instance }) =>
        event.instance === undefined ||
        instance === null ||
        Number(event.instance) >= Number(instance),
    );
    for (const one of ended) this.#resolve(one);
    const name = JSON.stringify({ dedup_key: event.dedup_key });
    for (const { hits } of project.rules.values())
      for (const key of [...hits.keys()]) if (key.startsWith(`[${name},`)) hits.delete(key);
    return { alerted: standing.length > ended.length, resolved: ended.length };
  }

  /** The same firing reported again: it is written at most once a minute, or where it would else end. */
  #refresh(standing: ModelAlert, event: ModelEvent, quietMinutes: number): ModelAlert | null {
    const isSame = event.instance !== undefined && event.instance === standing.instance;
    if (!isSame || event.level > standing.level) return null;
    const soon = this.now + 60;
    const promised = expiryOf(event, this.now);
    const isDue =
      standing.part === this.#part ||
      Object.entries(labelsOf(event)).some(([key, value]) => standing.labels[key] !== value) ||
      this.now - standing.last_seen >= 60 ||
      (promised !== null && promised < (standing.expires_at ?? Number.POSITIVE_INFINITY)) ||
      (quietMinutes > 0 && standing.last_seen + quietMinutes * 60 <= soon) ||
      (standing.expires_at !== null && standing.expires_at <= soon);
    if (!isDue) standing.report = { seen: this.now, expires_at: promised };
    return isDue ? standing : { ...standing };
  }

  /** What was kept under the two customers that were named so far is one from now on. */
  #merge(project: Project): void {
    const [older, younger] = project.customers.map(backupOf) as [string, string];
    const standing = this.alerts.filter(
      (one) => one.project === project && one.state !== "resolved",
    );
    for (const alert of standing) {
      const key = rekeyed(alert.key, younger, older);
      if (key === alert.key) continue;
      const other = standing.find((one) => one.rule === alert.rule && one.key === key);
      if (other !== undefined) this.#mergeAlerts(alert, other);
      for (const one of [alert, other])
        if (one !== undefined && one.state !== "resolved") one.key = key;
      for (const one of [key, alert.key]) alert.rule.hits.delete(one);
    }
    for (const rule of project.rules.values()) this.#mergeHits(rule, younger, older);
  }

  /** An open one lives before an acknowledged one, else the first; it has what was counted into both. */
  #mergeAlerts(a: ModelAlert, b: ModelAlert): void {
    const [first, second] = a.id < b.id ? [a, b] : [b, a];
    const secondLives = first.state !== "open" && second.state === "open";
    const [kept, ended] = secondLives ? [second, first] : [first, second];
    const never = kept.quietAt === null || ended.quietAt === null;
    kept.quietAt = never ? null : Math.max(kept.quietAt ?? 0, ended.quietAt ?? 0);
    kept.count += ended.count;
    kept.level = Math.max(kept.level, ended.level);
    kept.first_seen = Math.min(kept.first_seen, ended.first_seen);
    const isLater = ended.last_seen > kept.last_seen;
    kept.labels = isLater
      ? { ...kept.labels, ...ended.labels }
      : { ...ended.labels, ...kept.labels };
    if (isLater)
      Object.assign(kept, { last_seen: ended.last_seen, last_message: ended.last_message });
    this.#resolve(ended);
  }

  #mergeHits(rule: Rule, younger: string, older: string): void {
    const moved = [...new Set([...rule.hits.keys(), ...rule.resolved.keys()])];
    for (const from of moved) {
      const key = rekeyed(from, younger, older);
      if (key === from) continue;
      const since = Math.max(rule.resolved.get(from) ?? 0, rule.resolved.get(key) ?? 0);
      const stands = this.alerts.some(
        (one) => one.rule === rule && one.key === key && one.state !== "resolved",
      );
      const hits = [...(rule.hits.get(key) ?? []), ...(rule.hits.get(from) ?? [])]
        .filter(({ order }) => !stands && order > since)
        .sort((a, b) => a.order - b.order);
      rule.hits.delete(from);
      rule.hits.set(key, hits);
      rule.resolved.set(key, since);
    }
  }

  #requiet(alert: ModelAlert, rule: Rule, next: RuleConfig): void {
    if (alert.state === "resolved") return;
    const before = rule.config.auto_resolve_quiet_minutes * 60;
    const after = next.auto_resolve_quiet_minutes * 60;
    if (after === 0) alert.quietAt = null;
    else if (before === 0 || alert.quietAt === null) alert.quietAt = this.now + after;
    else alert.quietAt += after - before;
  }

  /** Whether the match was counted into an alert that isn't resolved, or opened one. */
  #count(
    of: { project: Project; name: string; rule: Rule },
    source: Source,
    event: ModelEvent,
  ): boolean {
    const { rule } = of;
    const { fire_after, identifier_keys, auto_resolve_quiet_minutes } = rule.config;
    const identifiers = Object.fromEntries(
      identifier_keys.map((key) => [key, String(event.keys[key] ?? "")]),
    );
    const { dedup_key = null, instance = null } = dedupOf(event);
    const expires_at = expiryOf(event, this.now);
    const promised = event.expires_in ?? 0;
    const quietAt =
      auto_resolve_quiet_minutes === 0 ? null : this.now + auto_resolve_quiet_minutes * 60;
    const template = textOf(of.project, event.message);
    const key = keyOf(of.project, event, Object.values(identifiers));
    const standing = this.alerts.find(
      (alert) => alert.state !== "resolved" && alert.rule === rule && alert.key === key,
    );
    if (standing !== undefined) {
      const labels = { ...standing.labels, ...labelsOf(event) };
      const last = { last_seen: this.now, last_message: event.message, template, quietAt, labels };
      const again =
        dedup_key === null ? null : this.#refresh(standing, event, auto_resolve_quiet_minutes);
      if (again !== null) {
        Object.assign(again, { ...last, expires_at, promised, report: null, part: this.#part });
        return true;
      }
      if (instance === null || instance !== standing.instance) standing.count++;
      standing.level = Math.max(standing.level, event.level);
      Object.assign(standing, { ...last, instance, expires_at, promised });
      Object.assign(standing, { report: null, part: this.#part });
      return true;
    }
    if (instance !== null && this.#isHeld(rule, key, instance)) return false;
    const from = this.now - fire_after.window_minutes * 60;
    const hits = [
      ...(rule.hits.get(key) ?? []),
      { at: this.now, order: ++this.#order, source, level: event.level, labels: labelsOf(event) },
    ].filter(({ at }) => at > from);
    rule.hits.set(key, hits);
    if (hits.length < fire_after.count) return false;
    if (new Set(hits.map((hit) => hit.source)).size < fire_after.distinct_sources) return false;
    rule.hits.delete(key);
    this.alerts.push({
      id: ++this.#lastId,
      project: of.project,
      rule,
      ruleName: of.name,
      key,
      state: "open",
      template,
      identifiers,
      labels: Object.assign({}, ...hits.map(({ labels }) => labels)),
      level: Math.max(...hits.map(({ level }) => level)),
      count: hits.length,
      first_seen: hits[0]?.at ?? this.now,
      last_seen: this.now,
      last_message: event.message,
      opened_at: this.now,
      acked_at: null,
      byHand: false,
      resolved_at: null,
      investigate: rule.config.investigate,
      quietAt,
      dedup_key,
      instance,
      expires_at,
      byHandAt: null,
      report: null,
      promised,
      part: 0,
    });
    return true;
  }

  /** Somebody resolved this firing less than an hour ago. */
  #isHeld(rule: Rule, key: string, instance: string): boolean {
    const last = this.alerts.findLast((one) => one.rule === rule && one.key === key);
    const { byHandAt = null } = last ?? {};
    return last?.instance === instance && byHandAt !== null && this.now < byHandAt + 3600;
  }
}

function labelsOf(event: ModelEvent): Record<string, string> {
  return Object.fromEntries(Object.entries(event.keys).map(([key, value]) => [key, String(value)]));
}

function expiryOf(event: ModelEvent, now: number): number | null {
  return event.dedup_key === undefined || event.expires_in === undefined
    ? null
    : now + event.expires_in;
}

/** Without a name nothing else that is said of an alert counts. */
function dedupOf(event: ModelEvent): Partial<ModelEvent> {
  return event.dedup_key === undefined ? {} : event;
}

/** Different customers that lines must name until that word of them is known to vary. */
const MERGED_AT = 3;
const BACKUP = /^backup of customer (\w+) failed$/;

export function backupOf(customer: string): string {
  return `backup of customer ${customer} failed`;
}

function customerOf(message: string): string | null {
  return BACKUP.exec(message)?.[1] ?? null;
}

const isMerged = (project: Project, message: string) =>
  customerOf(message) !== null && project.customers.length >= MERGED_AT;

/** What its template says. */
function textOf(project: Project, message: string): string {
  return isMerged(project, message) ? backupOf("<*>") : message;
}

function keyOf(project: Project, event: ModelEvent, identifiers: readonly string[]): string {
  const { message, dedup_key } = event;
  if (dedup_key !== undefined) return JSON.stringify([{ dedup_key }, identifiers]);
  const named = isMerged(project, message) ? backupOf(project.customers[0] ?? "") : message;
  return JSON.stringify([named, identifiers]);
}

function rekeyed(key: string, younger: string, older: string): string {
  const [message, identifiers] = JSON.parse(key) as [string, string[]];
  return message === younger ? JSON.stringify([older, identifiers]) : key;
}

function matches(
  { match, conditions }: RuleConfig,
  source: Source,
  event: ModelEvent & { text: string },
): boolean {
  return (
    event.level >= match.min_level &&
    (match.sources.length === 0 || match.sources.includes(source.name)) &&
    (match.tags.length === 0 || match.tags.some((tag) => event.tags.includes(tag))) &&
    (event.message.includes(match.template_contains) ||
      event.text.includes(match.template_contains)) &&
    conditions.every(({ key, op, value }) => {
      const sent = event.keys[key];
      if (sent === undefined) return op === "neq";
      if (op === "eq") return String(sent) === String(value);
      if (op === "neq") return String(sent) !== String(value);
      return op === "gte" ? Number(sent) >= Number(value) : Number(sent) <= Number(value);
    })
  );
}
