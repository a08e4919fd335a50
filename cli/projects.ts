import type { Command } from "commander";
import type { ProjectEntry } from "../src/core/projects/project.ts";
import { api } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { nounCommands } from "./noun.ts";
import { apiFlags, print } from "./options.ts";
import { table, when } from "./table.ts";

export function registerProjects(program: Command): void {
  const group = program.command("project").description("projects");
  const project = nounCommands(group, { of: "", one: "<name>", at: () => "/v1/projects" });
  apiFlags(group.command("list")).description("list projects").action(listProjects);
  apiFlags(group.command("add <name>"))
    .description("create a project")
    .action(async (name: string, options: ApiOptions) => {
      const answer = await api.post<{ name: string }>(options, "/v1/projects", { name });
      print(answer, options, () => `created project ${answer.name}`);
    });
  project.rename("rename a project");
  project.delete("delete a project with all it owns, reports too");
}

export async function allProjects(options: ApiOptions): Promise<ProjectEntry[]> {
  const projects: ProjectEntry[] = [];
  for (let after: string | null = ""; after !== null; ) {
    const page: { projects: ProjectEntry[]; next: string | null } = await api.get(
      options,
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
