import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { box as run } from "../support/command-line.ts";

test("a silence from its preview to its end, and a snooze, by commands; readiness names what is quiet altogether", async (t) => {
  const served = await testBox({}, handClock(Date.now()));
  t.after(() => served.stop());
  const token = await served.project("shop", { name: "api" });
  await served.api("POST", "/v1/projects/shop/rules", { name: "errors", identifier_keys: ["n"] });
  await served.ingest(token, { message: "it is down", keys: { n: "1" } });
  const env = { BOX_URL: served.url, BOX_KEY: served.owner.key };
  const box = (...words: string[]) => run(words, { env });
  const what = ["--project", "shop", "--rule", "errors", "--identifier", "n=1"];

  const looked = await box("silence", "preview", ...what, "--for", "1h");
  assert.equal(
    looked.out,
    "now: 1 open\n  #1 it is down\nin the past 7 days: 1 alerts, 0 pages; critical ones like it: 0\n  #1 it is down\n",
  );
  assert.equal((await box("silence", "list")).out, "nothing is silenced\n");
  assert.equal((await box("silence", "add", ...what, "--reason", "deploy")).code, 2);
  const added = await box("silence", "add", ...what, "--for", "1h", "--reason", "deploy 41");
  assert.match(added.out, /^[0-9a-f]{16} until 20\S+ \S+Z\n$/);
  const id = added.out.slice(0, 16);
  assert.match((await box("silence", "list")).out, /shop: errors, n=1 +1 .*deploy 41\n$/);
  assert.match((await box("silence", "set", id, "--for", "2h")).out, /until/);
  assert.equal((await box("silence", "end", id)).out, `ended ${id}\n`);

  const own = await box("silence", "alert", "1", "--for", "2h");
  assert.match(own.out, /^[0-9a-f]{16} until \S+ \S+: shop: errors, [0-9a-f]{16}, n=1\n/);
  assert.match(
    own.out,
    /\nother open alerts that it silences: 0; others of the past 7 days like it: 0\n$/,
  );
  assert.equal((await box("silence", "end", own.out.slice(0, 16))).code, 0);
  const label = ["--label", "n=1", "--label", "zone!=eu", "--label", "n=~[0-9]", "--label", "x!~a"];
  const by = await box("silence", "add", ...label, "--for", "1h", "--reason", "why");
  assert.match(
    (await box("silence", "list")).out,
    /every project: n=1, zone!=eu, n=~\[0-9\], x!~a +1/,
  );
  assert.equal((await box("silence", "end", by.out.slice(0, 16))).code, 0);
  assert.equal((await box("silence", "preview", "--label", "n", "--for", "1h")).code, 2);

  const night = await box(
    "silence",
    "add",
    "--project",
    "shop",
    "--all",
    "--critical",
    "--name",
    "backup",
    "--for",
    "1h",
    "--repeat",
    "daily",
    "--repeat-until",
    "+30d",
    "--reason",
    "nightly",
  );
  assert.match(night.out, /until/, night.err);
  const ready = await served.api("GET", "/readyz");
  const check = ready.body.checks.find(({ name }: { name: string }) => name === "silences");
  assert.equal(ready.body.status, "degraded");
  assert.match(check.detail, /^everything of shop is silenced until 20\S+: nightly$/);

  const until = await box("snooze", "1", "--for", "30m");
  assert.match(until.out, /^alert 1 is acknowledged until 20/);
  assert.match((await box("timeline", "1")).out, / snoozed it until 20/);
  assert.equal((await box("snooze", "1")).code, 2);
});
