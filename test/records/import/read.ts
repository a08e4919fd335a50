import assert from "node:assert/strict";
import { wholeLadder } from "../../../src/core/alerts/ladder.ts";
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
  const { projects } = parseConfigFile(text, { env: {}, directory: "/" });
  const [project, ...more] = imported.config.projects ?? [];
  assert.ok(project !== undefined && more.length === 0);
  const { rules = [], ladders = [] } = projects[0]?.config ?? {};
  /** Whom a rule pages and when, over all passes of its ladder: `[minutes, people and schedules]`. */
  const pagesOf = (name: string) => {
    const rule = rules.find((one) => one.name === name);
    assert.ok(rule !== undefined, name);
    const ladder = ladders.find((one) => one.name === rule.ladder);
    assert.equal(ladder === undefined, (rule.ladder ?? null) === null, `the ladder of ${name}`);
    const {
      steps: escalations,
      passes,
      pass_after_minutes,
    } = ladder ?? { steps: rule.escalations };
    const whole = wholeLadder({ escalations, passes, pass_after_minutes });
    return whole
      .filter(({ isEnd }) => isEnd !== true)
      .map((step) => [
        step.after_minutes,
        [...step.accounts, ...step.schedules.map((one) => one.replace(/^.*\//, ""))],
      ]);
  };
  return { imported, project, report: imported.report, text, pagesOf, ladders };
}

/** What is told of one thing, a line each. */
export const linesOf = (report: readonly ImportLine[], what: string): string =>
  report
    .filter((line) => line.what === what)
    .map(({ sort, how }) => `${sort} ${how}`)
    .join("\n");
