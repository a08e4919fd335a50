import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProject, getProject } from "../src/core/projects/projects.ts";
import { createSource } from "../src/core/projects/sources.ts";
import { systemClock } from "../src/ground/kit/clock.ts";
import { servedBefore } from "../test/support/data.ts";
import { testHosted } from "../test/support/hosted-role.ts";

/** Hosted tenants, each with a source, on the disk; prints the address and the sources' tokens. */
const data = mkdtempSync(join(tmpdir(), "box-bench-"));
const database = process.env["BOX_BENCH_DATABASE"];
if (!database) servedBefore(data, "hosted");
const hostedKey = join(data, "hosted.key");
writeFileSync(hostedKey, randomBytes(32), { mode: 0o600 });
const flags = { data, hostedKey, drainSeconds: "0", ...(database && { database }) };
const hosted = await testHosted(flags, systemClock as never);
const ids = await hosted.desk(async (desk) => {
  const made: string[] = [];
  for (let n = 0; n < Number(process.argv[2]); n++)
    made.push((await desk.addTenant({ kind: "hosted" })).tenant_id);
  return made;
});
const tokenOf = async (id: string): Promise<string> => {
  const tenant = await hosted.role.tenants.find(id);
  if (tenant === null) throw new Error("no tenant");
  return tenant.store.write((tx) => {
    createProject(tx, "bench");
    const source = { tenantId: id, name: "app", retainLogs: true };
    return createSource(tx, getProject(tx, "bench"), source).token;
  });
};
const tokens: string[] = [];
for (let from = 0; from < ids.length; from += 8)
  tokens.push(...(await Promise.all(ids.slice(from, from + 8).map(tokenOf))));
process.stdout.write(`${hosted.url} ${tokens.join(" ")}\n`);
process.once("SIGTERM", async () => {
  await hosted.stop();
  rmSync(data, { recursive: true, force: true });
  process.exit(0);
});
