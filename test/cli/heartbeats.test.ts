import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestBox, testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { box as run } from "../support/command-line.ts";
import { long, test } from "../support/long.ts";
import { programFile } from "../support/program.ts";
import { scratch } from "../support/scratch.ts";

async function scene(t: { after(fn: () => Promise<void>): void }) {
  const served = await testBox({}, handClock(Date.now()));
  t.after(() => served.stop());
  const token = await served.project("shop", { name: "cron" });
  await served.api("POST", "/v1/projects/shop/rules", { name: "all" });
  const env = { BOX_URL: served.url, BOX_KEY: served.owner.key };
  const box = (...words: string[]) => run(words, { env });
  return { served, token, box };
}

const alerts = async (served: TestBox) => (await served.api("GET", "/v1/alerts")).body.alerts;

test("a heartbeat from its first address to its end, by commands", async (t) => {
  const { served, box } = await scene(t);
  const made = await box("heartbeat", "add", "shop", "backup", "--every", "1h", "--grace", "10m");
  assert.match(made.out, new RegExp(`^${served.url}/ping/[0-9A-Za-z]{22}\n$`));
  await fetch(`${made.out.trim()}/3`, { method: "POST", body: "no space left" });
  assert.match(
    (await box("heartbeat", "list", "shop")).out,
    /backup +down +every 3600 s .* all\n$/,
  );
  const shown = (await box("heartbeat", "show", "shop", "backup")).out;
  assert.match(shown, /^state +down \(failed\)\n/);
  assert.match(shown, /\nfailed +20\S+ \S+Z +3\n\nno space left\n$/);
  assert.equal((await box("heartbeat", "pause", "shop", "backup")).out, "backup is paused\n");
  assert.equal((await box("heartbeat", "resume", "shop", "backup")).out, "backup is up\n");
  const set = await box("heartbeat", "set", "shop", "backup", "--cron", "0 3 * * *");
  assert.equal(set.out, "backup: 0 3 * * * UTC, up\n");
  assert.notEqual((await box("heartbeat", "rotate", "shop", "backup")).out, made.out);
  assert.equal((await box("heartbeat", "delete", "shop", "backup")).out, "deleted backup\n");
  assert.match(
    (await box("heartbeat", "show", "shop", "backup")).err,
    /no heartbeat|heartbeat.*backup|box heartbeat add/,
  );
  assert.equal((await box("heartbeat", "add", "shop", "x")).code, 2);
});

test("box run passes output and exit code on, and tells what failed with its last lines", async (t) => {
  const { served, token, box } = await scene(t);
  const script = "for i in $(seq 30); do echo line $i; done; echo bad >&2; exit 3";
  const failed = await box("run", "--source", token, "--", "sh", "-c", script);
  assert.equal(failed.code, 3);
  assert.match(failed.out, /^line 1\n[\s\S]*line 30\n$/);
  assert.match(failed.err, /^bad\nbox: sh ended with 3\n$/);
  const [alert, ...others] = await alerts(served);
  assert.equal(others.length, 0);
  assert.equal(alert.last_message, "sh failed with exit code 3");
  assert.equal(alert.level, 400);
  assert.equal(alert.details.split("\n").length, 20);
  assert.match(alert.details, /line 30/);
  assert.equal((await box("run", "--source", token, "--", "true")).code, 0);
  assert.equal((await box("run", "--source", token, "--", "no-such-command")).code, 127);
  assert.equal((await box("run", "--", "sh", "-c", "kill -TERM $$")).code, 143);
});

long(
  "box run that is told to end passes it on to the command, and tells how that ended",
  async (t) => {
    const { served, token } = await scene(t);
    const words = ["run", "--source", token, "--", "sh", "-c", "echo $$; exec sleep 60"];
    const child = spawn(process.execPath, [await programFile(), ...words], {
      env: { ...process.env, BOX_URL: served.url },
    });
    t.after(() => child.kill("SIGKILL"));
    const [pid] = await once(child.stdout, "data");
    child.kill("SIGTERM");
    assert.deepEqual(await once(child, "exit"), [143, null]);
    assert.throws(() => process.kill(Number(pid), 0), { code: "ESRCH" });
    const [alert] = await alerts(served);
    assert.equal(alert.last_message, "sh failed with exit code 143");
  },
);

test("box run tells what failed also when nobody reads what the command says", async (t) => {
  const { served, token } = await scene(t);
  const script = "echo begun; while ! test -e closed; do sleep 0.01; done; seq 200000; exit 3";
  const words = ["run", "--source", token, "--", "sh", "-c", script];
  const cwd = scratch(t);
  const child = spawn(process.execPath, [await programFile(), ...words], {
    cwd,
    env: { ...process.env, BOX_URL: served.url },
  });
  t.after(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  child.stdout.destroy();
  const ended = once(child, "exit");
  writeFileSync(join(cwd, "closed"), "");
  assert.deepEqual(await ended, [3, null]);
  assert.equal((await alerts(served))[0].last_message, "sh failed with exit code 3");
});

test("box run tells a heartbeat start, end and output", async (t) => {
  const { served, box } = await scene(t);
  const { out } = await box("heartbeat", "add", "shop", "backup", "--every", "1h");
  const url = out.trim();
  assert.equal(
    (await box("run", "--heartbeat", url, "--", "sh", "-c", "echo gone; exit 5")).code,
    5,
  );
  assert.equal((await alerts(served))[0].last_message, "backup: failed with exit status 5");
  assert.equal((await alerts(served))[0].details, "gone");
  assert.equal((await box("run", "--heartbeat", url, "--", "echo", "well")).code, 0);
  assert.equal((await alerts(served))[0].state, "resolved");
  const { heartbeats } = (await served.api("GET", "/v1/projects/shop/heartbeats")).body;
  const { id, last_duration, last_message } = heartbeats[0];
  assert.deepEqual([last_duration, last_message], [0, "well"]);
  const { runs } = (await served.api("GET", `/v1/projects/shop/heartbeats/${id}/runs`)).body;
  assert.deepEqual(
    runs.map(({ outcome }: { outcome: string }) => outcome),
    ["ok", "failed"],
  );
});
