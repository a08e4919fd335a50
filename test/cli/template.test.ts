import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { trialText } from "../../cli/template.ts";
import { testBox } from "../support/box.ts";
import { box } from "../support/command-line.ts";
import { scratch } from "../support/scratch.ts";

const run = (args: string[], input = "") => box(["template", "try", ...args], { input });

const lines = [
  "User 42 failed login from 10.0.0.1",
  "",
  "disk full",
  "User 7 failed login from 10.0.0.2",
];

test("standard input becomes a table, most frequent first, and empty lines are none", async () => {
  const { code, out } = await run([], `${lines.join("\r\n")}\r\n`);
  assert.equal(code, 0);
  const rows = out.trimEnd().split("\n");
  assert.match(rows[0] ?? "", /^LINES\s+TEMPLATE ID\s+TEMPLATE$/);
  assert.match(rows[1] ?? "", /^2\s+[0-9a-f]{16}\s+User <\*> failed login from <\*>$/);
  assert.match(rows[2] ?? "", /^1\s+[0-9a-f]{16}\s+disk full$/);
  assert.equal(rows[3], "3 lines, 2 templates");
});

test("several files are one trial; --json has an example of each template", async (t) => {
  const directory = scratch(t);
  const files = ["a.log", "b.log"].map((name) => join(directory, name));
  for (const file of files) writeFileSync(file, lines.join("\n"));
  const { out } = await run([...files, "--json"]);
  const answer = JSON.parse(out);
  assert.equal(answer.lines, 6);
  assert.deepEqual(
    answer.templates.map(({ template, count, example }: Record<string, unknown>) => [
      template,
      count,
      example,
    ]),
    [
      ["User <*> failed login from <*>", 4, lines[0]],
      ["disk full", 2, "disk full"],
    ],
  );
});

test("rows are cut to the width of a terminal, and only there", () => {
  const template = "a long template ".repeat(20).trim();
  const tried = {
    lines: 1,
    templates: [{ template_id: "0123456789abcdef", template, count: 1, example: template }],
  };
  const widths = (columns?: number) =>
    trialText(tried, columns)
      .split("\n")
      .map((row) => row.length);
  assert.equal(Math.max(...widths(80)), 80);
  assert.ok(trialText(tried, 80).includes("…\n"));
  assert.ok(Math.max(...widths()) > template.length);
});

test("a file that isn't there is wrong usage, said by name", async () => {
  const { code, err } = await run(["/nowhere/app.log"]);
  assert.equal(code, 2);
  assert.match(err, /^box: \/nowhere\/app\.log: there is no such file/);
});

test("what it prints can't steer a terminal", async () => {
  assert.ok(!(await run([], "a \u001b[2J b\n")).out.includes("\u001b"));
});

test("what a project hears is listed, with what no rule may take", async (t) => {
  const served = await testBox();
  t.after(() => served.stop());
  const env = { BOX_URL: served.url, BOX_KEY: served.owner.key };
  const list = async (...more: string[]) => box(["template", "list", "shop", ...more], { env });
  const token = await served.project("shop");
  const match = { template_contains: "disk" };
  await served.api("POST", "/v1/projects/shop/rules", { name: "disks", match });
  for (const message of ["disk full", "disk full", "all is well"])
    await served.ingest(token, { message });
  const { out } = await list();
  assert.match(out, /^2 .* app {2}.*disks {2}.*disk full$/m);
  assert.match(out, /^1 .* app {2}.*NONE .*all is well$/m);
  assert.match(out, /^3 events in all$/m);
  assert.equal((await box(["templates", "shop"], { env })).out, out, "as people call it");
  const { out: unheard } = await list("--unmatched", "--limit", "1");
  assert.doesNotMatch(unheard, /disk/);
  assert.match((await list("--limit", "1")).out, /more with --after 2-[0-9a-f]{16}$/m);
});
