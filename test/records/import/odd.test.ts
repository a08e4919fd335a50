import assert from "node:assert/strict";
import { test } from "node:test";
import { parseConfigFile } from "../../../src/records/config-file/document.ts";
import { writeYaml } from "../../../src/records/config-file/yaml.ts";
import { ImportFault } from "../../../src/records/import/given-file.ts";
import { importers } from "../../../src/records/import/list.ts";
import fc from "../../support/property.ts";
import { teams } from "./teams.ts";

const NOW = Date.UTC(2026, 10, 22, 12) / 1000;

const odd = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    "",
    "x",
    "a/b",
    "..",
    -1,
    0,
    0.5,
    1e9,
    1e15,
    true,
    [],
    {},
    [null],
    "2026-01-01T00:00:00Z",
  ),
  fc.constantFrom<unknown>(
    "none",
    "weekly",
    "monthly",
    "Europe/Berlin",
    "99:99",
    "2300-01-01",
    "x".repeat(300),
    "😀\u0000",
    ["ann@example.org"],
  ),
);

/** The value with some of its parts replaced or taken away; `picks` say which, in the order of a walk. */
function bent(value: unknown, picks: Map<number, unknown>, at = { n: 0 }): unknown {
  at.n += 1;
  if (picks.has(at.n)) return picks.get(at.n);
  if (Array.isArray(value)) return value.map((one) => bent(one, picks, at));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) => {
      const other = bent(one, picks, at);
      return other === undefined ? [] : [[key, other]];
    }),
  );
}

for (const { system, files } of teams(NOW))
  test(`whatever ${system} answers becomes a file that passes its own check, or a fault that names the place`, () => {
    const importer = importers.find((one) => one.system === system);
    assert.ok(importer);
    const pick = fc.tuple(fc.integer({ min: 2, max: 90 }), fc.oneof(odd, fc.constant(undefined)));
    fc.assert(
      fc.property(fc.array(pick, { minLength: 1, maxLength: 4 }), (picks) => {
        const value = bent(files, new Map(picks)) as Record<string, unknown>;
        const given = Object.entries(value).map(([name, one]) => ({
          name,
          text: JSON.stringify(one),
        }));
        try {
          const { config } = importer.read(given, { now: NOW, project: null });
          parseConfigFile(writeYaml(config), { env: {}, directory: "/" });
        } catch (error) {
          if (!(error instanceof ImportFault)) throw error;
        }
      }),
      { numRuns: 60 },
    );
  });
