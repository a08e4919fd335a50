import { styleText } from "node:util";
import type { Command } from "commander";
import type { Finding } from "../src/app/operate/finding.ts";
import type { Status } from "../src/app/operate/status.ts";
import { systemClock } from "../src/ground/kit/clock.ts";
import type { FlagsGiven } from "../src/ground/kit/flags.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { CommandError } from "./exit.ts";
import { addFlags, dataFlag, type OfflineOptions, offlineFlags, print } from "./options.ts";
import { printable, table, when } from "./table.ts";
import { terminal } from "./terminal.ts";

const healthFlags = {
  ...dataFlag,
  "--at <url>": {
    about: "address to ask (default: where the box of the data directory listens)",
    twin: "HEALTH",
  },
};

/** The box's state and its faults, read from the data directory, whether it runs or not. */
export function registerLook(program: Command): void {
  offlineFlags(program.command("status"))
    .description(
      "show whether the box runs, what it stores, what waits to be sent, and when it was last backed up",
    )
    .action(status);
  offlineFlags(program.command("doctor"))
    .description("check everything that the box needs; exit 1 if something is wrong")
    .action(doctor);
  addFlags(program.command("health"), healthFlags)
    .description("ask the box on this machine whether it is alive (/healthz): exit 0, or 1")
    .action(health);
}

async function options({ data }: { data: string }) {
  return { data, clock: systemClock, random: systemRandom };
}

/** For a container's health check: nothing is printed where all is well. */
async function health({ data, at }: FlagsGiven<typeof healthFlags>): Promise<void> {
  const [{ askBox }, { boxAddress }] = await Promise.all([
    import("../src/app/operate/ask.ts"),
    import("../src/app/operate/status.ts"),
  ]);
  const found = await options({ data });
  const address = at ?? boxAddress(found);
  if (address === null) throw new CommandError("the box has never listened");
  const answer = (await askBox(
    found.clock,
    new URL("healthz", `${address.replace(/\/*$/, "")}/`).href,
  )) as {
    status?: unknown;
  } | null;
  if (answer?.status !== "ok") throw new CommandError(`no answer from ${address}`);
}

async function status(flags: OfflineOptions): Promise<void> {
  const { boxStatus } = await import("../src/app/operate/status.ts");
  const found = await boxStatus(await options(flags));
  print(found, flags, () => statusText(found));
}

function statusText(status: Status): string {
  const { disk, counts, health } = status;
  const state = status.running ? (health?.status ?? "doesn't answer") : "stopped";
  const rows: [string, string | number][] = [
    ["address", status.address ?? "none yet"],
    ["version", status.running_version ?? status.version],
    ["tenant", status.tenant_id],
    ["schema", status.schema],
    ["store", `${disk.store} bytes, log ${disk.log}, free ${disk.free ?? "unknown"}`],
    ["last backup", status.last_backup === null ? "never" : when(status.last_backup)],
    ...Object.entries(counts).map(([name, n]): [string, number] => [name.replaceAll("_", " "), n]),
  ];
  rows.push(["doctor", doctorText(status.doctor)]);
  const events = health?.checks.find(({ name }) => name === "ingest")?.detail;
  if (events !== undefined) rows.push(["events", events]);
  const bad = (health?.checks ?? []).filter((check) => !check.ok);
  return [
    coloured(state === "ok" ? "green" : state === "stopped" ? "yellow" : "red", `box is ${state}`),
    table([], rows),
    ...status.quiet.map((one) =>
      coloured(
        "yellow",
        printable(
          `everything${one.project === null ? "" : ` of ${one.project}`} is silenced until ${when(one.until)}: ${one.reason}`,
        ),
      ),
    ),
    ...bad.map(({ name, detail }) => coloured("red", printable(`${name}: ${detail}`))),
  ].join("\n");
}

const doctorText = (last: Status["doctor"]): string =>
  last === null
    ? "was not asked in System yet; box doctor looks now"
    : last.wrong.length === 0
      ? `found nothing wrong ${when(last.at)}; box doctor looks now`
      : `WRONG ${when(last.at)}: ${last.wrong.join(", ")}; box doctor looks now, and says what to do`;

async function doctor(flags: OfflineOptions): Promise<void> {
  const { examine } = await import("../src/app/operate/doctor.ts");
  const findings = await examine(await options(flags));
  const wrong = findings.filter(({ state }) => state === "wrong").length;
  print({ ok: wrong === 0, findings }, flags, () => findings.map(findingText).join("\n"));
  if (wrong > 0)
    throw new CommandError(wrong === 1 ? "one thing is wrong" : `${wrong} things are wrong`);
}

const marks = {
  ok: ["green", "ok   "],
  note: ["yellow", "note "],
  wrong: ["red", "WRONG"],
} as const;

function findingText({ check, state, detail, advice }: Finding): string {
  const [colour, mark] = marks[state];
  const line = `${coloured(colour, mark)}  ${printable(check).padEnd(16)} ${printable(detail)}`;
  return advice === "" ? line : `${line}\n${" ".repeat(24)}→ ${printable(advice)}`;
}

/** Without colour where there is no terminal, or with NO_COLOR. */
function coloured(colour: "green" | "yellow" | "red", text: string): string {
  return styleText(colour, text, { stream: terminal().stdout });
}
