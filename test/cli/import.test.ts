import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { test } from "node:test";
import { importWith } from "../../cli/import.ts";
import { onTerminal } from "../../cli/terminal.ts";
import { alertmanagerImporter } from "../../src/records/import/alertmanager/alertmanager.ts";
import { ImportFault } from "../../src/records/import/given-file.ts";
import type { Importer } from "../../src/records/import/importer.ts";
import { box } from "../support/command-line.ts";
import { scratch } from "../support/scratch.ts";

/** A system whose export is a line: the name of a chat and its token. */
const lines: Importer = {
  system: "lines",
  title: "Lines",
  live: alertmanagerImporter.live,
  read: (files, { project }) => {
    const [chat = "", token = ""] = files[0]?.text.trim().split(" ") ?? [];
    if (token === "") throw new ImportFault(`${files[0]?.name}: line 1 has no token`);
    const integration = { name: chat, type: "telegram", token: { env: "TOKEN" } };
    return {
      config: {
        format: 1,
        projects: [
          {
            name: project ?? files.map(({ name }) => name.replace(/^.*\//, "")).join("+"),
            integrations: [{ ...integration, chat_id: { env: "CHAT" } }],
          },
        ],
      },
      report: [{ sort: "exact", what: chat, how: "is a channel." }],
      secrets: [
        { env: "TOKEN", value: token, what: "the token" },
        { env: "CHAT", value: null, what: "the chat's id" },
      ],
      commands: [],
    };
  },
};

async function run(paths: string[], flags: Parameters<typeof importWith>[2] = {}) {
  const said = { out: "", err: "" };
  const pipe = (name: "out" | "err") => {
    const stream = new PassThrough();
    stream.on("data", (chunk) => (said[name] += chunk));
    return stream;
  };
  const terminal = { env: {}, stdin: Readable.from(["chat 1:abc"]) };
  await onTerminal({ ...terminal, stdout: pipe("out"), stderr: pipe("err") }, () =>
    importWith(lines, paths, flags),
  );
  await new Promise(setImmediate);
  return said;
}

test("an export becomes a file, a file of credentials and a report, which only their owner reads, and none is written over", async (t) => {
  const directory = scratch(t);
  mkdirSync(join(directory, "export/deep"), { recursive: true });
  for (const name of ["b.yml", "deep/a.json", "notes.txt", "a.YAML"])
    writeFileSync(join(directory, "export", name), "chat 1:abc\n");
  const output = join(directory, "my box.yaml");
  const report = join(directory, "report.txt");
  const { out, err } = await run([join(directory, "export")], { output, report });
  assert.deepEqual([out, err], ["", ""]);
  assert.match(readFileSync(output, "utf8"), /- name: a.YAML\+b.yml\+a.json\n/);
  assert.equal(
    readFileSync(`${output}.env`, "utf8"),
    "# the token\nTOKEN=1:abc\n# the chat's id (enter it here)\nCHAT=\n",
  );
  const said = readFileSync(report, "utf8");
  assert.match(said, /^From Lines: 1 exact, 0 approximate, 0 impossible\.\n/);
  assert.ok(said.includes(`box config apply --dry-run '${output}'\n`), said);
  assert.ok(said.includes(`set -a; . '${output}.env'; set +a\n`), said);
  for (const file of [output, `${output}.env`, report])
    assert.equal(statSync(file).mode & 0o777, 0o600, file);
  const other = join(directory, "other.yaml");
  writeFileSync(`${other}.env`, "mine");
  await assert.rejects(run(["-"], { output: other }), /other\.yaml\.env: it exists already/);
  assert.ok(!existsSync(other));
  assert.equal(readFileSync(`${other}.env`, "utf8"), "mine");
});

test("without --output the file is what is printed, and the report stands beside it", async () => {
  const { out, err } = await run(["-"], { project: "team" });
  assert.match(out, /^format: 1\nprojects:\n {2}- name: team\n/);
  assert.ok(!`${out}${err}`.includes("1:abc"));
  assert.match(err, /- CHAT: the chat's id\n[\s\S]*box config apply FILE\n$/);
});

test("what can't be read is told with its file, as wrong usage", async (t) => {
  const directory = scratch(t);
  const file = join(directory, "x.json");
  writeFileSync(file, "chat");
  await assert.rejects(run([file]), { message: `${file}: line 1 has no token`, exitCode: 2 });
  await assert.rejects(run([join(directory, "gone")]), { exitCode: 2 });
  mkdirSync(join(directory, "empty"));
  await assert.rejects(run([join(directory, "empty")]), /there is no \.json, \.yml or \.yaml/);
  await assert.rejects(run(["-"], { project: "a/b" }), /nothing was written\nline 3: .*slash/);
  const { code, err } = await box(["import", "nagios", file]);
  assert.deepEqual([code, /the system must be one of .*, not "nagios"/.test(err)], [2, true]);
});
