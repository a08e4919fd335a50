import assert from "node:assert/strict";
import { parseConfigFile } from "../../../src/records/config-file/document.ts";
import { writeYaml } from "../../../src/records/config-file/yaml.ts";
import type { Importer, ImportLine } from "../../../src/records/import/importer.ts";

/** Reads an export given as values by their files' names; what comes of it has passed the configuration file's own check. */
export function importText(
  importer: Importer,
  now: number,
  files: Readonly<Record<string, unknown>>,
) {
  const given = Object.entries(files).map(([name, value]) => ({
    name,
    text: JSON.stringify(value),
  }));
  const imported = importer.read(given, { now, project: null });
  const text = writeYaml(imported.config);
  parseConfigFile(text, { env: {}, directory: "/" });
  const [project, ...more] = imported.config.projects ?? [];
  assert.ok(project !== undefined && more.length === 0);
  return { imported, project, report: imported.report, text };
}

/** What is told of one thing, a line each. */
export const linesOf = (report: readonly ImportLine[], what: string): string =>
  report
    .filter((line) => line.what === what)
    .map(({ sort, how }) => `${sort} ${how}`)
    .join("\n");
