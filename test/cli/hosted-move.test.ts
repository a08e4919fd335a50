import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startHosted } from "../../src/app/hosted.ts";
import { hostedConfig } from "../../src/app/hosted-config.ts";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { silentLog } from "../../src/ground/kit/log.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { box, boxAnswer } from "../support/command-line.ts";
import { postgresTest, testDatabase } from "../support/postgres.ts";
import { program } from "../support/program.ts";

postgresTest(
  "a hosted role moves to a database and back, each time killed first, and only one of the two is served",
  async (t) => {
    const root = mkdtempSync(join(tmpdir(), "box-cli-move-"));
    t.after(() => rmSync(root, { recursive: true, force: true }));
    const [data, home] = [join(root, "data"), join(root, "home")];
    mkdirSync(home, { mode: 0o700 });
    const { url } = await testDatabase(t, { empty: true });
    const at = (dir: string) => ["--data", dir, "--database", url];
    // Serving makes the store; commands only use it.
    const config = hostedConfig({ data, listen: "127.0.0.1:0", logLevel: "silent" });
    const deps = { clock: systemClock, random: systemRandom, log: silentLog };
    await (await startHosted(config, { ...deps, onFatal: assert.fail })).stop();
    for (const email of ["ada@example.com", "ben@example.com"])
      await boxAnswer(["hosted", "account", "add", "--email", email, "--data", data]);
    const made = await boxAnswer(["hosted", "tenant", "add", "--kind", "box", "--data", data]);
    const move = (dir: string) => boxAnswer(["hosted", "move", ...at(dir)]);

    for (const ms of [150, 300, 600]) await killed(["hosted", "move", ...at(data)], ms);
    const there = await move(data);
    assert.deepEqual(
      [there.moved, there.rows.accounts, there.rows.tenants],
      ["to the database", 2, 1],
    );
    assert.deepEqual(await move(data), there);
    const served = await box(["hosted", "serve", "--data", data, "--listen", "127.0.0.1:0"]);
    assert.equal(served.code, 78);
    assert.match(served.err, /was moved to a database: serve it with --database/);

    const nowhere = url.replace("@", ":hunter2@").replace(/\/\w+$/, "/nowhere");
    const refused = await box(["hosted", "move", "--data", data, "--database", nowhere]);
    assert.equal(refused.code, 78);
    assert.match(refused.err, /nowhere refuses this node: database "nowhere" does not exist/);
    assert.ok(!refused.err.includes("hunter2"));
    const key = ["--hosted-key", join(data, "hosted.key")];
    const nodes = ["--data", join(root, "node"), "--database", url, ...key];
    await boxAnswer(["hosted", "account", "add", "--email", "cat@example.com", ...nodes]);
    const lacking = await box(["hosted", "move", ...at(home)]);
    assert.equal(lacking.code, 78);
    assert.match(lacking.err, /copy their hosted\.key/);
    copyFileSync(join(data, "hosted.key"), join(home, "hosted.key"));
    for (const ms of [150, 300, 600]) await killed(["hosted", "move", ...at(home)], ms);
    const back = await move(home);
    assert.deepEqual([back.moved, back.rows.accounts], ["to the data directory", 3]);
    assert.equal(existsSync(join(home, "hosted.db.moving")), false);
    const late = await box(["hosted", "account", "add", "--email", "dan@example.com", ...nodes]);
    assert.equal(late.code, 78);
    assert.match(late.err, /was moved to a file/);
    const set = ["hosted", "tenant", "set", made.tenant_id, "--watch", "60", "--data", home];
    assert.equal((await boxAnswer(set)).watch_seconds, 60);
  },
);

/** Starts the command and kills it, if it still runs by then. */
async function killed(words: readonly string[], ms: number): Promise<void> {
  const [node = "", ...more] = await program();
  const child = spawn(node, [...more, ...words], { stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  await pause(ms);
  child.kill("SIGKILL");
  await ended;
}
