import { Command } from "commander";
import type { Progress, RunVerdict } from "../src/app/prove/prove.ts";
import { databaseFlags } from "../src/app/serve-flags.ts";
import { systemClock } from "../src/ground/kit/clock.ts";
import type { FlagsGiven } from "../src/ground/kit/flags.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { addFlags, jsonFlag, print } from "./options.ts";

const proveFlags = {
  "--kills <n>": { about: "how many kills", usual: "60" },
  "--seed <n>": "repeat the choices of an earlier run (default: another each time)",
  "--dir <dir>": "where the scratch data is made (default: the system's temporary place)",
  ...jsonFlag,
  // Without variables of the environment: those name the database of a box that pages somebody.
  ...databaseFlags(
    "empty PostgreSQL database, for two machines that share the box; every third kill takes a machine and its disk",
  ),
};
type ProveFlags = FlagsGiven<typeof proveFlags>;

export function registerProve(program: Command): void {
  const prove = addFlags(new Command("prove"), proveFlags)
    .description("kill a temporary box again and again, and show that nothing is lost")
    .action(run);
  program.addCommand(prove);
}

async function run(flags: ProveFlags): Promise<void> {
  const [{ prove }, { isPacked }] = await Promise.all([
    import("../src/app/prove/prove.ts"),
    import("../src/ground/kit/assets.ts"),
  ]);
  const kills = whole("--kills", flags.kills);
  const seed =
    flags.seed === undefined ? systemRandom.bytes(4).readUInt32BE() : whole("--seed", flags.seed);
  const script = isPacked ? [] : [process.argv[1] ?? ""];
  const { verdict, directory } = await prove({
    program: [process.execPath, ...script],
    kills,
    seed,
    clock: systemClock,
    ...(flags.dir === undefined ? {} : { directory: flags.dir }),
    ...databaseOf(flags),
    ...(process.stderr.isTTY ? { onProgress: showProgress } : {}),
  });
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
  print(verdict, flags, () => plain(verdict, kills));
  if (!verdict.ok)
    throw new CommandError(`a promise was broken or not proven; the data is kept in ${directory}`);
}

/** What names the database in the environment of a box: no password of it stands in ps. */
function databaseOf({ database, databaseFile, databaseCa }: ProveFlags) {
  const named = { BOX_DATABASE: database, BOX_DATABASE_FILE: databaseFile };
  const given = Object.entries({ ...named, BOX_DATABASE_CA: databaseCa }).flatMap(
    ([name, value]) => (value === undefined ? [] : [[name, value] as const]),
  );
  if (given.length === 0) return {};
  if ((database === undefined) === (databaseFile === undefined))
    throw new CommandError("name one database: --database or --database-file", exitCodes.usage);
  return { database: Object.fromEntries(given) };
}

function whole(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text) || (name === "--seed" && /^\d{1,10}$/.test(text))) return Number(text);
  throw new CommandError(`${name} must be a whole number, not "${text}"`, exitCodes.usage);
}

function showProgress({ kill, kills, moment, events, arrivals }: Progress): void {
  const text = `kill ${kill} of ${kills} (${moment}), ${events} events sent, ${arrivals} messages received`;
  process.stderr.write(`\r\x1b[K${text}`);
}

function plain({ ok, seed, figures, violations, unproven }: RunVerdict, kills: number): string {
  const { events, named, pushes, alerts, arrivals, duplicates, startMs, takeMs } = figures;
  const times = Object.entries(figures.kills)
    .filter(([, n]) => n > 0)
    .map(([moment, n]) => `${n} ${moment}`);
  return [
    `kills       ${kills}: ${times.join(", ")}`,
    `events      ${events.accepted} accepted, ${events.unknown} without an answer, ${events.refused} refused; ${events.stored} stored`,
    `names       ${named.firings} firings and ${named.ends} ends answered`,
    `pushes      ${pushes.taken} taken by browsers, ${pushes.revoked} browsers revoked`,
    `alerts      ${alerts}`,
    `messages    ${arrivals} received, ${duplicates} of them again after they had been taken`,
    `start       ${startMs.median} ms (median), ${startMs.slowest} ms at most`,
    ...(takeMs === null
      ? []
      : [
          `taken over  ${takeMs.times} times from a lost machine: ${takeMs.median} ms (median), ${takeMs.slowest} ms at most`,
        ]),
    `drained in  ${figures.drainSeconds.toFixed(1)} s after faults stopped`,
    `took        ${figures.seconds.toFixed(1)} s, seed ${seed}`,
    ...violations.map(
      ({ promise, count, example }) => `BROKEN      ${promise} (${count}): ${example}`,
    ),
    ...unproven.map((promise) => `NOT PROVEN  ${promise}`),
    ok ? "verdict     nothing lost" : "verdict     FAILED",
  ].join("\n");
}
