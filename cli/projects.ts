import type { Command } from "commander";
import { callApi, path } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { readNamed } from "./files.ts";
import { apiFlags, print } from "./options.ts";
import { printable, table, when } from "./table.ts";

export interface ProjectEntry {
  name: string;
  version: number;
  source_count: number;
  rule_count: number;
  open_alert_count: number;
  created_at: number;
}

export function registerProjects(program: Command): void {
  const project = program.command("project").description("projects");
  apiFlags(project.command("list")).description("list projects").action(listProjects);
  apiFlags(project.command("add <name>"))
    .description("create a project")
    .action(async (name: string, options: ApiOptions) => {
      const answer = await callApi<{ name: string; version: number }>(
        options,
        "POST",
        "/v1/projects",
        { name },
      );
      print(answer, options, () => `created project ${answer.name}`);
    });
  apiFlags(project.command("rename <name> <to>"))
    .description("rename a project")
    .action(async (name: string, to: string, options: ApiOptions) => {
      const answer = await callApi<{ name: string }>(
        options,
        "POST",
        path("v1", "projects", name, "rename"),
        { name: to },
      );
      print(answer, options, () => `renamed to ${answer.name}`);
    });
  apiFlags(project.command("delete <name>"))
    .description("delete a project with all it owns")
    .action(async (name: string, options: ApiOptions) => {
      print(
        await callApi<object>(options, "DELETE", path("v1", "projects", name)),
        options,
        () => `deleted ${name}`,
      );
    });
  registerSources(program);
  registerRules(program);
}

/** All projects, by name. */
export async function allProjects(options: ApiOptions): Promise<ProjectEntry[]> {
  const projects: ProjectEntry[] = [];
  for (let after: string | null = ""; after !== null; ) {
    const page: { projects: ProjectEntry[]; next: string | null } = await callApi(
      options,
      "GET",
      `/v1/projects?limit=500&after=${encodeURIComponent(after)}`,
    );
    projects.push(...page.projects);
    after = page.next;
  }
  return projects;
}

async function listProjects(options: ApiOptions): Promise<void> {
  const projects = await allProjects(options);
  print({ projects }, options, () =>
    table(
      ["NAME", "SOURCES", "RULES", "OPEN ALERTS", "VERSION", "CREATED"],
      projects.map((p) => [
        p.name,
        p.source_count,
        p.rule_count,
        p.open_alert_count,
        p.version,
        when(p.created_at),
      ]),
    ),
  );
}

function registerSources(program: Command): void {
  const source = program.command("source").description("sources: who may send events");
  apiFlags(source.command("list <project>"))
    .description("list sources")
    .action(async (project: string, options: ApiOptions) => {
      const answer = await callApi<{
        sources: { name: string; retain_logs: boolean; created_at: number }[];
      }>(options, "GET", path("v1", "projects", project, "sources"));
      print(answer, options, () =>
        table(
          ["NAME", "RETAINS LOGS", "CREATED"],
          answer.sources.map((s) => [s.name, s.retain_logs, when(s.created_at)]),
        ),
      );
    });
  apiFlags(source.command("add <project> <name>"))
    .description("create a source; prints its ingest token once")
    .option("--retain-logs", "keep its events for the log tail")
    .action(
      async (project: string, name: string, options: ApiOptions & { retainLogs?: boolean }) => {
        const answer = await callApi<{ name: string; token: string }>(
          options,
          "POST",
          path("v1", "projects", project, "sources"),
          {
            name,
            retain_logs: options.retainLogs ?? false,
          },
        );
        print(answer, options, () => answer.token);
      },
    );
  apiFlags(source.command("rotate <project> <name>"))
    .description("replace a source's token")
    .action(async (project: string, name: string, options: ApiOptions) => {
      const answer = await callApi<{ token: string }>(
        options,
        "POST",
        path("v1", "projects", project, "sources", name, "rotate-token"),
      );
      print(answer, options, () => answer.token);
    });
  apiFlags(source.command("delete <project> <name>"))
    .description("delete a source")
    .action(async (project: string, name: string, options: ApiOptions) => {
      print(
        await callApi<object>(options, "DELETE", path("v1", "projects", project, "sources", name)),
        options,
        () => `deleted ${name}`,
      );
    });
}

function registerRules(program: Command): void {
  const rule = program.command("rule").description("rules: which events make an alert");
  apiFlags(rule.command("list <project>"))
    .description("list rules")
    .action(async (project: string, options: ApiOptions) => {
      const answer = await callApi<{
        rules: { name: string; match: object; updated_at: number }[];
      }>(options, "GET", path("v1", "projects", project, "rules"));
      print(answer, options, () =>
        table(
          ["NAME", "MATCH", "UPDATED"],
          answer.rules.map((r) => [r.name, JSON.stringify(r.match), when(r.updated_at)]),
        ),
      );
    });
  apiFlags(rule.command("show <project> <name>"))
    .description("one rule as JSON")
    .action(async (project: string, name: string, options: ApiOptions) => {
      const answer = await callApi<object>(
        options,
        "GET",
        path("v1", "projects", project, "rules", name),
      );
      print(answer, options, () => JSON.stringify(answer, null, 2));
    });
  apiFlags(rule.command("set <project> <file>"))
    .description("create or replace a rule from a JSON file (- = standard input)")
    .action(async (project: string, file: string, options: ApiOptions) => {
      const body = await readNamed(file, "a rule");
      const base = path("v1", "projects", project, "rules");
      const { rules } = await callApi<{ rules: { name: string }[] }>(options, "GET", base);
      const exists = rules.some(({ name }) => name === body.name);
      const answer = exists
        ? await callApi<RuleAnswer>(options, "PUT", base + path(body.name), body)
        : await callApi<RuleAnswer>(options, "POST", base, body);
      print(answer, options, () =>
        [`${exists ? "replaced" : "created"} rule ${body.name}`, actionsText(answer)].join("\n"),
      );
    });
  apiFlags(rule.command("delete <project> <name>"))
    .description("delete a rule")
    .action(async (project: string, name: string, options: ApiOptions) => {
      print(
        await callApi<object>(options, "DELETE", path("v1", "projects", project, "rules", name)),
        options,
        () => `deleted ${name}`,
      );
    });
}

interface RuleAnswer {
  /** Left out where the rule was written without. */
  actions?: string[];
  /** The enabled ones that its alerts run as things stand. */
  runs_actions: { name: string; events: string[] }[];
}

function actionsText({ actions, runs_actions: runs }: RuleAnswer): string {
  const list = runs.map(({ name, events }) => `${printable(name)} (${events.join(", ")})`);
  const now = list.length === 0 ? "none now" : list.join(", ");
  return actions === undefined
    ? `it names no actions, so it runs every enabled one: ${now}`
    : `it runs the enabled ones of the actions that it names: ${now}`;
}
