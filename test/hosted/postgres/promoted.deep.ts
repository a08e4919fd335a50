import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { withHosted } from "../../../src/app/offline/hosted.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { realClock } from "../../support/clock.ts";
import { type TestHosted, testHosted } from "../../support/hosted-role.ts";
import { postgresTest } from "../../support/postgres.ts";
import { startPostgresPair } from "../../support/postgres-pair.ts";
import { scratch } from "../../support/scratch.ts";

postgresTest(
  "while the old primary waits for its standby, and once it takes writes again, nodes serve from the promoted one",
  async (t) => {
    const pair = await startPostgresPair();
    t.after(() => pair.stop());
    const hostedKey = join(scratch(t), "hosted.key");
    writeFileSync(hostedKey, randomBytes(32), { mode: 0o600 });
    const old = pair.socket();
    const all: TestHosted[] = [];
    t.after(() => Promise.all(all.map((node) => node.stop())));
    const start = async (node: string, sockets: string[], flags = {}) => {
      const database = `postgres://box@/box?host=${sockets.map(encodeURIComponent).join(",")}`;
      const one = await testHosted({ database, hostedKey, node, ...flags }, realClock());
      all.push(one);
      return one;
    };
    const nodesOf = async (socket: string) =>
      (await pair.ask("SELECT id FROM nodes ORDER BY id", "box", socket)).split("\n");

    await start("one", [old]);
    const promoted = await pair.promote();
    const both = [old, promoted];
    // Every commit on the old one hangs from now on.
    const two = await start("two", both);
    assert.ok((await nodesOf(promoted)).includes("two"));
    assert.equal((await two.call("GET", "/readyz")).status, 200);

    await pair.letStandbyGo();
    await start("three", both);
    assert.deepEqual((await nodesOf(promoted)).slice(-2), ["three", "two"]);
    assert.ok(!(await nodesOf(old)).includes("three"));
    // If only the old one is reachable nothing is done there, and the reason is reported.
    const { data, clock } = two;
    const alone = `postgres://box@/box?host=${encodeURIComponent(old)}`;
    await assert.rejects(
      withHosted({ data, database: alone, hostedKey, clock, random: systemRandom }, (desk) =>
        desk.addAccount("ada@example.com"),
      ),
      /doesn't answer: it is on timeline 1, and 2 was promoted since/,
    );
  },
);
