import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { pgbouncer } from "../../support/pgbouncer.ts";
import { postgresTest } from "../../support/postgres.ts";
import { until } from "../../support/until.ts";
import { claimStories, cutStories } from "./claim-stories.ts";

postgresTest("two nodes' claims follow their model, at length", (t) =>
  claimStories(t, { runs: 400, steps: 60 }),
);

postgresTest("two nodes' claims follow their model through a pooler in transaction mode", (t) => {
  if (pgbouncer === null && process.env["BOX_TEST_POSTGRES"] !== "must")
    return t.skip("no PgBouncer");
  return claimStories(t, { runs: 150, steps: 60, pooled: true });
});

postgresTest(
  "connections that are lost with their answers double no page, at length",
  async (t) => {
    for (let round = 0; round < 6; round++) await cutStories(t, { pages: 1_000 });
  },
);

postgresTest("the tests' server goes with who started it, also when that is killed", async () => {
  const support = pathToFileURL(join(import.meta.dirname, "../../support/postgres.ts")).href;
  const program = `const { socketDirectory } = await import("${support}");
    console.log(await socketDirectory()); setInterval(() => {}, 1000);`;
  const { BOX_TEST_RUNNER: _, ...env } = process.env;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { env });
  const place = await new Promise<string>((resolve) =>
    child.stdout.once("data", (data) => resolve(String(data).trim())),
  );
  assert.ok(existsSync(join(place, "data")));
  child.kill("SIGKILL");
  await until(() => !existsSync(place), "its directory is gone");
});
