import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { Command } from "commander";
import { registerImport } from "../../../cli/import.ts";
import { shellQuoted } from "../../../src/ground/kit/shell.ts";
import type { Imported } from "../../../src/records/import/importer.ts";
import { importers } from "../../../src/records/import/list.ts";
import { UniqueNames } from "../../../src/records/import/names.ts";
import { reportText, secretsText } from "../../../src/records/import/report.ts";
import { SecretNames } from "../../../src/records/import/secrets.ts";

test("names are what the box takes for one, and each is given once", () => {
  const names = new UniqueNames(12);
  const given = [
    "db",
    "db",
    " a/b\n",
    "..",
    "",
    "a name that is too long",
    "a name that is too long",
  ];
  assert.deepEqual(
    given.map((name) => names.give(name)),
    ["db", "db (2)", "a-b-", "unnamed", "unnamed (2)", "a name that…", "a name… (2)"],
  );
});

test("one credential has one variable, another of the same words another", () => {
  const names = new SecretNames();
  const refer = (value: string | null) =>
    names.refer(["slack", "team-X", "webhook_url"], { value, what: "the address" });
  assert.deepEqual(refer("a"), { env: "SLACK_TEAM_X_WEBHOOK_URL" });
  assert.deepEqual(refer("a"), { env: "SLACK_TEAM_X_WEBHOOK_URL" });
  assert.deepEqual(refer("b"), { env: "SLACK_TEAM_X_WEBHOOK_URL_2" });
  assert.deepEqual(names.refer(["1", "é"], { value: null, what: "" }), { env: "SECRET_1" });
  assert.equal(names.secrets.length, 3);
});

test("a shell reads the file of credentials as they are", () => {
  const odd = `a'b "c" $HOME \`id\` \\ !`;
  const secrets = [
    { env: "ODD", value: odd, what: "one that\nlooks $(like) code" },
    { env: "MISSING", value: null, what: "one that isn't there" },
  ];
  const script = `${secretsText({ secrets })}\nprintf '%s|%s' "$ODD" "$MISSING"`;
  assert.equal(spawnSync("sh", ["-c", script], { encoding: "utf8" }).stdout, `${odd}|`);
  assert.equal(shellQuoted("box.yaml"), "box.yaml");
  assert.equal(shellQuoted("my box.yaml"), "'my box.yaml'");
});

test("the report counts first, names what differs and what is missing, and says what comes next", () => {
  const imported: Imported = {
    config: {
      format: 1,
      tenant: {
        ladders: [
          {
            name: "Default",
            steps: [
              { schedules: ["elsewhere/Primary"], after_minutes: 0 },
              { after_minutes: 5 },
              { accounts: ["ann@example.org", "bob@example.org"], after_minutes: 30 },
            ],
            passes: 3,
            pass_after_minutes: 10,
          },
          { name: "spare", steps: [] },
        ],
      },
      projects: [
        {
          name: "elsewhere",
          rules: [
            { name: "mute" },
            { name: "web", ladder: "Default" },
            { name: "own", escalations: [{ schedules: ["Primary"], after_minutes: 0 }] },
            { name: "db", ladder: "Default" },
            { name: "mute too", escalations: [] },
          ],
        },
      ],
    },
    report: [
      { sort: "exact", what: "a", how: "is the same" },
      { sort: "approximate", what: "b", how: "is nearly the same." },
      { sort: "impossible", what: "c", how: "isn't there." },
    ],
    secrets: [
      { env: "HERE", value: "hunter2", what: "a password" },
      { env: "GONE", value: null, what: "a token" },
    ],
    commands: ["box silence list"],
  };
  assert.equal(
    reportText("Elsewhere", imported, { next: ["box config apply box.yaml"] }),
    `From Elsewhere: 1 exact, 1 approximate, 1 impossible.

Whom alerts of these rules page:
- web, db (ladder Default): at once whoever is on call in Primary, after 30 min ann@example.org and bob@example.org; 3 times, then the fallback
- own (rungs of their own): at once whoever is on call in Primary
- no rule (ladder spare): nobody
- mute, mute too (without a ladder): nobody

Approximate:
- b: is nearly the same.

Impossible here:
- c: isn't there.

The same here:
- a: is the same

Credentials to be entered, by the names of their variables:
- GONE: a token

Run after it is applied, because a configuration file can't contain it:
  box silence list

Nothing was applied. Next:
  box config apply box.yaml
`,
  );
});

test("the command's help names every system", async () => {
  const program = new Command();
  registerImport(program);
  const said = program.commands[0]?.description() ?? "";
  assert.match(said, new RegExp(`\\(${importers.map(({ system }) => system).join(", ")}\\)`));
});
