import assert from "node:assert/strict";
import type { Command } from "commander";
import { createProgram } from "../../cli/program.ts";
import { box } from "../support/command-line.ts";
import { long, test } from "../support/long.ts";
import { boxCommand } from "../support/process.ts";

/** Every command, as the words that lead to it; those that only group others too. */
function commands(command: Command, words: string[] = []): { words: string[]; command: Command }[] {
  const below = command.commands.flatMap((child) => commands(child, [...words, child.name()]));
  return [{ words, command }, ...below];
}

const all = commands(createProgram());

test("every command is tried", () => {
  assert.ok(all.length > 50);
});

for (const { words, command } of all) {
  const name = ["box", ...words].join(" ");
  test(`${name}: wrong usage is 2`, async () => {
    const wrong = [[...words, "--no-such-flag"]];
    const needed = command.registeredArguments;
    if (needed.some(({ required }) => required)) wrong.push(words);
    const takesAny = needed.some(({ variadic }) => variadic);
    if (command.commands.length > 0) wrong.push([...words, "no-such-command"]);
    else if (!takesAny) wrong.push([...words, ...needed.map(() => "x"), "one-too-many"]);
    for (const line of wrong) {
      const { code, err } = await box(line);
      assert.equal(code, 2, `${line.join(" ")}: ${err}`);
      assert.notEqual(err, "", line.join(" "));
    }
  });
}

test("an address that was typed at the wrong place is said again without its password", async () => {
  const address = "postgres://box:hunter2@db/pages";
  const serve = ["hosted", "serve"];
  for (const line of [
    [...serve, `--databse=${address}`],
    [...serve, address],
    [...serve, "--database", "postgres://box@db/pages", "--node", address],
  ]) {
    const { code, err } = await box(line);
    assert.equal(code, 2);
    assert.match(err, /postgres:\/\/box:…@db\/pages/);
    assert.ok(!err.includes("hunter2"), err);
  }
});

long("as a process, too", async () => {
  assert.equal((await boxCommand("hosted", "serve", "--no-such-flag")).code, 2);
  assert.equal((await boxCommand("serve", "--listen", "nowhere")).code, 2);
});

test("a value that serve can't take is 2", async () => {
  for (const flags of [
    ["--listen", "nowhere"],
    ["--log-level", "loud"],
    ["--retention-hours", "x"],
  ]) {
    const { code, err } = await box(["serve", ...flags]);
    assert.equal(code, 2, `${flags.join(" ")}: ${err}`);
  }
});
