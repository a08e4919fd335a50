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
}

export interface ModelAlert {
  id: number;
  project: Project;
  rule: Rule;
  ruleName: string;
  state: "open" | "acknowledged" | "resolved";
  template: string;
  identifiers: Record<string, string>;
  level: number;
  count: number;
  first_seen: number;
  last_seen: number;
  last_message: string;
  investigate: boolean;
  quietAt: number | null;
}

export interface Source {
  name: string;
}

interface Hit {
  at: number;
  source: Source;
  level: number;
}

export interface Rule {
  config: RuleConfig;
  /** Matches that haven't fired yet, by what makes an alert's key besides the rule. */
  hits: Map<string, Hit[]>;
}

export interface Project {
  name: string;
  version: number;
  sources: Map<string, Source>;
  rules: Map<string, Rule>;
}

export interface Answer {
  status: number;
  alerted?: boolean;
}

const byName = <T>(map: Map<string, T>): [string, T][] =>
  [...map].sort(([a], [b]) => (a < b ? -1 : 1));

export class Model {
  now: number;
  projects = new Map<string, Project>();
  alerts: ModelAlert[] = [];
  #lastId: number;

  constructor(now: number, lastId: number) {
    this.now = now;
    this.#lastId = lastId;
  }

  createProject(name: string): Answer {
    if (this.projects.has(name)) return { status: 409 };
    this.projects.set(name, { name, version: 1, sources: new Map(), rules: new Map() });
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
    project.rules.set(name, { config, hits: new Map() });
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

  ingest(projectName: string, sourceName: string, event: ModelEvent): Answer {
    const project = this.projects.get(projectName);
    const source = project?.sources.get(sourceName);
    if (project === undefined || source === undefined) return { status: 401 };
    let alerted = false;
    for (const [name, rule] of byName(project.rules))
      if (
        matches(rule.config, source, event) &&
        this.#count({ project, name, rule }, source, event)
      )
        alerted = true;
    return { status: 202, alerted };
  }

  change(id: number, to: "acknowledged" | "resolved"): Answer {
    const alert = this.alerts.find((one) => one.id === id);
    if (alert === undefined) return { status: 404 };
    if (alert.state === "open" || (alert.state === "acknowledged" && to === "resolved")) {
      alert.state = to;
      if (to === "resolved") alert.quietAt = null;
    }
    return { status: 200 };
  }

  turn(seconds: number): void {
    this.now += seconds;
    for (const alert of this.alerts) {
      if (alert.quietAt === null || alert.quietAt > this.now) continue;
      alert.state = "resolved";
      alert.quietAt = null;
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
    const quietAt =
      auto_resolve_quiet_minutes === 0 ? null : this.now + auto_resolve_quiet_minutes * 60;
    const key = JSON.stringify([event.message, Object.values(identifiers)]);
    const standing = this.alerts.find(
      (alert) => alert.state !== "resolved" && alert.rule === rule && keyOf(alert) === key,
    );
    if (standing !== undefined) {
      standing.count++;
      standing.level = Math.max(standing.level, event.level);
      Object.assign(standing, { last_seen: this.now, last_message: event.message, quietAt });
      return true;
    }
    const from = this.now - fire_after.window_minutes * 60;
    const hits = [
      ...(rule.hits.get(key) ?? []),
      { at: this.now, source, level: event.level },
    ].filter(({ at }) => at > from);
    rule.hits.set(key, hits);
    if (hits.length < fire_after.count) return false;
    if (new Set(hits.map((hit) => hit.source)).size < fire_after.distinct_sources) return false;
    rule.hits.delete(key);
    this.alerts.push({
      ...{ id: ++this.#lastId, project: of.project, rule, ruleName: of.name, state: "open" },
      ...{
        template: event.message,
        identifiers,
        level: Math.max(...hits.map(({ level }) => level)),
      },
      ...{ count: hits.length },
      ...{ first_seen: hits[0]?.at ?? this.now, last_seen: this.now, last_message: event.message },
      ...{ investigate: rule.config.investigate, quietAt },
    });
    return true;
  }
}

function keyOf(alert: ModelAlert): string {
  return JSON.stringify([alert.template, Object.values(alert.identifiers)]);
}

function matches({ match, conditions }: RuleConfig, source: Source, event: ModelEvent): boolean {
  return (
    event.level >= match.min_level &&
    (match.sources.length === 0 || match.sources.includes(source.name)) &&
    (match.tags.length === 0 || match.tags.some((tag) => event.tags.includes(tag))) &&
    event.message.includes(match.template_contains) &&
    conditions.every(({ key, op, value }) => {
      const sent = event.keys[key];
      if (sent === undefined) return op === "neq";
      if (op === "eq") return String(sent) === String(value);
      if (op === "neq") return String(sent) !== String(value);
      return op === "gte" ? Number(sent) >= Number(value) : Number(sent) <= Number(value);
    })
  );
}
