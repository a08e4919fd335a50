import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { importers } from "../../../src/records/import/list.ts";
import { withOneMore } from "./one-more.ts";
import { teams } from "./teams.ts";

const NOW = Date.UTC(2026, 10, 2, 12) / 1000;

/** What is told of as a whole: a schedule that is none of layers, ways to be reached, routes of an integration that isn't there. */
const WHOLE = /^schedule_v3\.json\/schedule\/|\/contact_methods\/|^routes\.json\/results\/0\//;

function told(system: string, files: object): string {
  const importer = importers.find((one) => one.system === system);
  assert.ok(importer);
  const given = Object.entries(files).map(([name, value]) => ({
    name,
    text: JSON.stringify(value),
  }));
  const { report } = importer.read(given, { now: NOW, project: null });
  return report.map(({ what, how }) => `${what}: ${how}`).join("\n");
}

for (const { system, files } of teams(NOW)) {
  const sample = JSON.parse(
    readFileSync(new URL(`samples/${system}.json`, import.meta.url), "utf8"),
  );
  for (const [kind, given] of [
    ["sample", sample],
    ["small export", files],
  ])
    test(`a field that nobody knows is told wherever it stands in ${system}'s ${kind}`, () => {
      const silent = Object.keys(given).flatMap((name) =>
        withOneMore(given[name])
          .filter(
            ({ value }) =>
              !/unheard_of|Two files have it and differ/.test(
                told(system, { ...given, [name]: value }),
              ),
          )
          .map(({ at }) => `${name}/${at}`)
          .filter((at) => !WHOLE.test(at)),
      );
      assert.deepEqual(silent, []);
    });
}
