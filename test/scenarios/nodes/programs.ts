import assert from "node:assert/strict";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { besidePackages, bundleProgram } from "../../support/bundle.ts";
import { programFile } from "../../support/program.ts";

const tree = join(import.meta.dirname, "../../..");

/** Ways to spoil the program that the story has to find; each is a text of it and what stands there instead. */
export const faults = {
  // As if one node's clock, by which it would go, were ahead of the other's.
  "holds by node time": [
    `\${hasRunOut("c.held_until", HOLD_SECONDS)} OR`,
    `\${hasRunOut("c.held_until", HOLD_SECONDS)} OR excluded.holder LIKE 'two/%' AND c.held_until < now() + interval '20 s' OR`,
  ],
  "every hold is freed at a start": ["left(holder, length($1) + 1) = $1 || '/'", "$1 <> ''"],
  "in flight is said to be done": [': { kind: "in_flight" };', ': { kind: "done", devices: 1 };'],
  "a hold is shorter than a push": ["HOLD_SECONDS = 15", "HOLD_SECONDS = 1"],
} as const satisfies Record<string, readonly [text: string, spoilt: string]>;
export type Fault = keyof typeof faults;

/** The same for `nodes-stores.ts`. */
export const storeFaults = {
  "answers don't wait": [["? mayTell(tenant.store) : null", "? null : null"]],
  "events don't wait": [
    ["&& mayTell(tenant.store)", "&& null"],
    ["=> mayConfirm(store, () => w", "=> null && (store, () => w"],
    ["? mayTell(tenant.store) : null", "? null : null"],
  ],
  "pieces of a stream don't wait": [["() => mayTell(tenant.store),", "() => null,"]],
  "what leaves doesn't wait": [
    ["heldEgress(client, store.durable, clock)", "heldEgress(client, () => null, clock)"],
  ],
  "an operator's key is forgotten before it is kept": [
    ["while (keeper.state().keptUpTo < upTo && ", "while (false && "],
  ],
  "anybody writes a store": [
    ['"tenant_id = $1 AND epoch = $2 AND run = $3"', "\"tenant_id = $1 AND $2 > 0 AND $3 <> ''\""],
    ["s.tenant_id = a.id AND s.epoch = a.epoch AND s.run = a.run", "s.tenant_id = a.id"],
    // Alone it is a fence, too: whoever took the store has mostly written to it.
    ['"AND seq IN ($12, $4)"', '""'],
    ["AND s.seq IN (a.before, a.seq)", ""],
    ["SURE_MS = 8e3", "SURE_MS = 8e9"],
  ],
  "an epoch isn't raised, and a process isn't named": [
    ["epoch = epoch + 1, clean", "epoch = epoch, clean"],
    ["{ epoch: epoch + 1, seq }", "{ epoch, seq }"],
    ["{ epoch: epoch + 1, seq, wasLost", "{ epoch, seq, wasLost"],
    ["$6::jsonb, clock_timestamp())`", "$6::jsonb, clock_timestamp()) ON CONFLICT DO NOTHING`"],
    [
      '"tenant_id = $1 AND epoch = $2 AND run = $3"',
      "\"tenant_id = $1 AND epoch = $2 AND $3 <> ''\"",
    ],
    [
      "s.tenant_id = a.id AND s.epoch = a.epoch AND s.run = a.run",
      "s.tenant_id = a.id AND s.epoch = a.epoch",
    ],
  ],
  "a living node's tenants are taken": [
    ['alive_until > clock_timestamp() AS "isAlive"', 'false AS "isAlive"'],
  ],
  "what waits when a tenant is given up is told": [[".reject(gone)", ".resolve()"]],
} as const satisfies Record<string, readonly (readonly [text: string, spoilt: string])[]>;
export type StoreFaultName = keyof typeof storeFaults;

const {
  "answers don't wait": ANSWERS,
  "events don't wait": EVENTS,
  "what leaves doesn't wait": LEAVES,
  "an epoch isn't raised, and a process isn't named": EPOCHS,
} = storeFaults;

/** The same for two machines of a box. */
export const boxFaults = {
  "events don't wait": EVENTS,
  "what leaves doesn't wait": LEAVES,
  "anybody writes the box": [
    ['"tenant_id = $1 AND epoch = $2 AND run = $3"', "\"tenant_id = $1 AND $2 > 0 AND $3 <> ''\""],
    ['"AND seq IN ($12, $4)"', '""'],
    ["SURE_MS = 8e3", "SURE_MS = 8e9"],
  ],
  "answers don't wait": ANSWERS,
  "an epoch isn't raised, and a process isn't named": EPOCHS,
  "no id is skipped after an owner that was lost": [
    ["if (wasLost) leaveGap", "if (false) leaveGap"],
  ],
  "a box is taken by who has just heard the database": [[".heardMs >= HEARD_MS", ".heardMs >= 0"]],
  "what is confirmed alone isn't noted": [["if (!keeper.note(", "if (false && !keeper.note("]],
  "datagrams aren't kept while nobody serves": [
    ["= 4 * 1024 * 1024;\n    BUFFER", "= 400;\n    BUFFER"],
  ],
} as const satisfies Record<string, readonly (readonly [text: string, spoilt: string])[]>;
export type BoxFaultName = keyof typeof boxFaults;

let written: Promise<string> | null = null;

/** The program with a fault in it. */
export const spoilt = (fault: Fault) => spoiltBy(fault, [faults[fault]]);
export const spoiltStores = (fault: StoreFaultName) => spoiltBy(fault, storeFaults[fault]);
export const spoiltBox = (fault: BoxFaultName) => spoiltBy(fault, boxFaults[fault]);

async function spoiltBy(fault: string, changes: readonly (readonly [string, string])[]) {
  written ??= bundleProgram(besidePackages(), true);
  const program = await written;
  let whole = readFileSync(program, "utf8");
  for (const [text, instead] of changes) {
    assert.equal(whole.split(text).length, 2, `the text of "${fault}" stands in the program once`);
    whole = whole.replace(text, () => instead);
  }
  const file = join(beside(program), "box.cjs");
  writeFileSync(file, whole);
  return file;
}

export interface NextMigration {
  sql: string;
  /** No program that doesn't know it may serve on what it makes. */
  isLeast: boolean;
}

/**
 * A release after this one: the program with more migrations. `change`: what the program's own text becomes with them.
 */
export async function nextRelease(
  migrations: readonly NextMigration[],
  change = (text: string): string => text,
): Promise<string> {
  const program = await programFile();
  // It finds its migrations, and all else that it carries, from the place of a file of its own.
  const place = beside(program);
  for (const name of readdirSync(tree))
    if (!/^(?:\.|migrations$)/.test(name)) symlinkSync(join(tree, name), join(place, name));
  cpSync(join(tree, "migrations"), join(place, "migrations"), { recursive: true });
  const postgres = join(place, "migrations/postgres");
  const known = readdirSync(postgres).length;
  for (const [at, { sql, isLeast }] of migrations.entries()) {
    const number = known + at + 1;
    const name = `${String(number).padStart(4, "0")}_next.sql`;
    writeFileSync(join(postgres, name), `-- least: ${isLeast ? number : 1}\n${sql}`);
  }
  const [here, there] = [tree, place].map((root) => JSON.stringify(join(root, "src/ground/kit")));
  const whole = readFileSync(program, "utf8");
  assert.ok(whole.includes(here as string), "the program says where it lies");
  mkdirSync(join(place, "next"));
  const file = join(place, "next/box.cjs");
  writeFileSync(file, change(whole.replaceAll(here as string, () => there as string)));
  return file;
}

/** A directory where packages are found, too; gone when this process ends. */
function beside(program: string): string {
  const place = mkdtempSync(join(dirname(program), "variant-"));
  process.once("exit", () => rmSync(place, { recursive: true, force: true }));
  return place;
}
