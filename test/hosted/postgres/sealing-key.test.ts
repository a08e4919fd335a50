import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { StoreFault } from "../../../src/ground/store/faults.ts";
import { startFakeApns } from "../../support/apns.ts";
import { realClock } from "../../support/clock.ts";
import { type TestHosted, testHosted, useApns } from "../../support/hosted-role.ts";
import { postgresTest, type TestDatabase, testDatabase } from "../../support/postgres.ts";
import { scratch } from "../../support/scratch.ts";

function keyFile(t: TestContext, ...keys: Buffer[]): string {
  const file = join(scratch(t), "hosted.key");
  const bytes = keys.length === 0 ? randomBytes(32) : Buffer.concat(keys);
  writeFileSync(file, bytes, { mode: 0o600 });
  return file;
}

async function start(
  t: TestContext,
  { url: database }: TestDatabase,
  { hostedKey, node }: { hostedKey: string; node: string },
): Promise<TestHosted> {
  const started = await testHosted({ database, hostedKey, node }, realClock());
  t.after(() => started.stop());
  return started;
}

const refused = (starting: Promise<unknown>, file: string) =>
  assert.rejects(
    starting,
    ({ kind, message }: StoreFault) => kind === "misconfigured" && message.includes(file),
  );

postgresTest("the first node's key is the registry's while nothing is sealed yet", async (t) => {
  const made = await testDatabase(t);
  const [key, other] = [keyFile(t), keyFile(t)];
  await start(t, made, { hostedKey: key, node: "one" });
  await refused(start(t, made, { hostedKey: other, node: "two" }), other);
  await start(t, made, { hostedKey: key, node: "two" });
});

postgresTest("of two nodes that start at once with two keys one serves", async (t) => {
  const made = await testDatabase(t);
  const keys = [keyFile(t), keyFile(t)];
  const ends = await Promise.allSettled(
    keys.map((hostedKey, n) => start(t, made, { hostedKey, node: `n${n}` })),
  );
  assert.deepEqual(ends.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
});

postgresTest(
  "a command seals nothing that the nodes can't read, and begins with a new key once none serves",
  async (t) => {
    const made = await testDatabase(t);
    const [key, other] = [keyFile(t), keyFile(t)];
    const node = await start(t, made, { hostedKey: key, node: "one" });
    const apns = await startFakeApns();
    t.after(() => apns.close());
    await useApns(node, apns);
    const stranger = await start(t, made, { hostedKey: key, node: "two" });
    // The same directory and database, with another key file.
    const bytes = readFileSync(key);
    writeFileSync(key, readFileSync(other), { mode: 0o600 });
    await refused(useApns(stranger, apns), key);
    // A file with both the nodes' key and a new one changes the key.
    writeFileSync(key, Buffer.concat([readFileSync(other), bytes]), { mode: 0o600 });
    await useApns(stranger, apns);
    await node.stopServing();
    await stranger.stopServing();
    const lost = keyFile(t);
    await refused(start(t, made, { hostedKey: lost, node: "three" }), lost);
    writeFileSync(key, readFileSync(lost), { mode: 0o600 });
    await useApns(stranger, apns);
    await start(t, made, { hostedKey: lost, node: "three" });
    await refused(start(t, made, { hostedKey: keyFile(t, bytes), node: "four" }), "hosted.key");
  },
);
