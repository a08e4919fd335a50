import assert from "node:assert/strict";
import { test } from "node:test";
import type { Command } from "commander";
import { createProgram } from "../../cli/program.ts";

interface Twin {
  env: string;
  command: string;
  description: string;
}

function twins(command: Command, above = ""): Twin[] {
  const name = `${above} ${command.name()}`.trim();
  const own = command.options.flatMap(({ envVar: env, description }) =>
    env === undefined ? [] : [{ env, command: name, description }],
  );
  return [...own, ...command.commands.flatMap((child) => twins(child, name))];
}

test("a variable of the environment that holds a secret means one thing in every command", () => {
  const meanings = new Map<string, Set<string>>();
  for (const { env, description } of twins(createProgram()))
    if (/KEY|TOKEN|SECRET|PASSWORD/.test(env))
      meanings.set(env, (meanings.get(env) ?? new Set()).add(description));
  assert.ok(meanings.size > 2, "there are some");
  const torn = [...meanings].filter(([, descriptions]) => descriptions.size > 1);
  assert.deepEqual(torn, []);
});
