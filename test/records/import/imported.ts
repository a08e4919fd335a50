import { type CompiledRule, compileRule, matches } from "../../../src/in/ingest/match.ts";
import { parseConfigFile } from "../../../src/records/config-file/document.ts";
import { writeYaml } from "../../../src/records/config-file/yaml.ts";
import { alertmanagerImporter } from "../../../src/records/import/alertmanager/alertmanager.ts";
import type { Imported } from "../../../src/records/import/importer.ts";
import { anyTime } from "../../support/patterns.ts";
import type { Labels } from "./alertmanager-by-the-book.ts";

/** 2026-11-22 12:00:00 UTC, a Sunday. */
export const NOW = 1_795_348_800;

/** An import of one configuration, and its rules as the box matches them. Throws where a box wouldn't take the file. */
export function importOf(config: string | object, ...silences: object[]) {
  const text = typeof config === "string" ? config : JSON.stringify(config);
  const files = [
    { name: "alertmanager.yml", text },
    ...silences.map((one, i) => ({ name: `silences-${i}.json`, text: JSON.stringify(one) })),
  ];
  const imported = alertmanagerImporter.read(files, { now: NOW, project: null });
  return { ...imported, rules: compiledRules(imported) };
}

function compiledRules({ config, secrets }: Imported): CompiledRule[] {
  const env = Object.fromEntries(secrets.map((one) => [one.env, one.value ?? "x"]));
  const file = parseConfigFile(writeYaml(config), { env, directory: "/" });
  return (file.projects[0]?.config.rules ?? []).map((rule, i) =>
    compileRule({ ...rule, id: i, project_id: 1, created_at: 0, updated_at: 0 }),
  );
}

/** The rules that take an alert with these labels, as its event has them: empty ones aren't there. */
export function takersOf(rules: readonly CompiledRule[], labels: Labels): CompiledRule[] {
  const keys = Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ""));
  const event = { message: "m", level: 400, keys, tags: null };
  return rules.filter((rule) =>
    matches(rule, event as unknown as Parameters<typeof matches>[1], anyTime),
  );
}

/** Whom a rule was made for: its name begins so. */
export const receiverOf = ({ rule }: CompiledRule): string =>
  rule.name.slice(0, rule.name.indexOf(":"));

export const linesOf = ({ report }: Pick<Imported, "report">, sort: string): string[] =>
  report.filter((line) => line.sort === sort).map(({ what, how }) => `${what}: ${how}`);
