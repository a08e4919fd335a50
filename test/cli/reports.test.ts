import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";

let served: TestBox;
before(async () => {
  served = await testBox();
  await served.project("p");
});
after(() => served.stop());

const box = (words: string[], input = "") =>
  run(["report", ...words], {
    env: { BOX_URL: served.url, BOX_KEY: served.owner.key },
    input,
  });

async function done(words: string[], input = ""): Promise<string> {
  const { code, out, err } = await box(words, input);
  assert.equal(code, 0, err);
  return out;
}

const status = async (url: string) => (await fetch(url)).status;

test("a report from its first line to its end, from the terminal", async () => {
  const [id = "", url = ""] = (
    await done(["create", "p", "Slow\u001b[2J payments", "--description", "Cards fail."])
  ).split("\n");
  assert.equal(await status(url), 200);
  const file = path.join(served.data, "entry.md");
  writeFileSync(file, "It is **over**.\n");
  assert.match(await done(["entry", "p", id], "We are *looking*.\n"), /^[0-9a-f]{16}\n$/);
  await done(["entry", "p", id, file, "--type", "resolution", "--title", "Over"]);
  const shown = await done(["show", "p", id]);
  assert.match(shown, /^title +Slow\\x1b\[2J payments\ndescription +Cards fail\.\n/);
  assert.match(
    shown,
    / update +We are \*looking\*\.\n.* resolution +Over +It is \*\*over\*\*\.\n$/,
  );
  assert.match(
    await done(["export", "p", id]),
    /^# Slow.*## Resolution: Over\n.*\*\*over\*\*\.\n$/s,
  );
  assert.match(await done(["list", "p"]), new RegExp(`\n${id} .* false .* ${url}\n$`));

  const moved = (await done(["rotate", "p", id])).trim();
  assert.deepEqual([await status(url), await status(moved)], [404, 200]);
  assert.equal(await done(["delete", "p", id]), `deleted ${id}\n`);
  assert.equal(await status(moved), 404);
  assert.equal(await done(["list", "p"]), "no reports\n");
});

test("a password comes from a file or standard input, never from an argument", async () => {
  const words = ["create", "p", "a", "--password-file", "-", "--json"];
  const { id, public_uuid: uuid } = JSON.parse(await done(words, "correct horse\n"));
  const url = `${served.url}/public/reports/${uuid}`;
  assert.equal(await status(url), 401);
  const body = new URLSearchParams({ password: "correct horse" });
  const entered = await fetch(url, { method: "POST", body, redirect: "manual" });
  assert.equal(entered.status, 303);
  const { report } = JSON.parse(await done(["show", "p", id, "--json"]));
  assert.deepEqual([report.id, report.password_protected], [id, true]);
  const empty = await box(words, "\n");
  assert.deepEqual([empty.code, empty.out], [2, ""]);
});

test("a draft is printed and not stored; what goes wrong is said", async () => {
  const token = await served.project("q");
  await served.api("POST", "/v1/projects/q/rules", { name: "any" });
  await served.ingest(token, { message: "disk is failing" });
  const { body } = await served.api("GET", "/v1/alerts?project=q");
  const made = await done(["create", "q", "a", "--alert", body.alerts[0].id, "--json"]);
  const { id } = JSON.parse(made);
  assert.match(await done(["draft", "q", id]), /- \*\*09:00\*\* The problem was detected/);
  assert.deepEqual(JSON.parse(await done(["show", "q", id, "--json"])).entries, []);

  const unknown = await box(["create", "q", "a", "--alert", "99"]);
  assert.deepEqual([unknown.code, unknown.out], [1, ""]);
  assert.match(unknown.err, /^box: The project has no such alert\.\n/);
  assert.match((await box(["entry", "q", id, "--type", "news"], "x")).err, /entry_type/);
  const missing = await box(["entry", "q", id, path.join(served.data, "no.md")]);
  assert.deepEqual([missing.code, missing.out], [2, ""]);
});
