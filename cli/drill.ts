import type { Command } from "commander";
import type { Alert } from "../src/core/alerts/alert.ts";
import type { DrillReport } from "../src/core/alerts/drill-report.ts";
import { sleep, systemClock } from "../src/ground/kit/clock.ts";
import { api, v1 } from "./api.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { reasonText, wayText } from "./reached.ts";
import { short, table, when } from "./table.ts";
import { terminal } from "./terminal.ts";

export function registerDrill(program: Command): void {
  apiFlags(program.command("drill <project> <rule>"), drillFlags)
    .description(
      "open a test alert that pages real people: it runs the ladder and is sent to the channels; it resolves itself after 15 minutes",
    )
    .action(drill);
}

const drillFlags = {
  "--level <level>": "the alert's level (default: the lowest that the rule matches)",
  "--message <text>": "text that follows the word Drill in its messages",
  "--wait <span>":
    "wait until somebody acknowledges or the drill is over, at most this long (default: until every message has arrived or failed, at most a minute)",
  "--no-wait": "begin it and don't wait",
};

/** Default wait in seconds for messages under way. Later steps are only named, unless --wait is given. */
const USUAL_WAIT = 60;
const LOOK_MS = 1000;

async function drill(
  project: string,
  rule: string,
  options: GivenBy<typeof drillFlags>,
): Promise<void> {
  const { level, message, wait } = options;
  const seconds = Number(wait || USUAL_WAIT);
  const from = v1("projects", project, "rules", rule, "drill");
  const alert = await api.post<Alert>(options, from, { level, message });
  const { id, expires_at } = alert;
  const begun = `drill begun: alert ${id}, until ${when(expires_at ?? 0)} or box resolve ${id}`;
  if (wait === false) return print(alert, options, () => begun);
  if (!options.json) terminal().stdout.write(`${begun}\n`);
  const at = v1("projects", project, "drills", id);
  const ends = systemClock.mono() + seconds * 1000;
  for (;;) {
    const report = await api.get<DrillReport>(options, at);
    if (isKnown(report, wait !== undefined) || systemClock.mono() >= ends)
      return print(report, options, () => reportText(report));
    await sleep(systemClock, LOOK_MS);
  }
}

/** `toTheEnd`: until a person has acknowledged and nothing is under way, or the alert is over. */
function isKnown({ state, acknowledged_at, waiting }: DrillReport, toTheEnd: boolean): boolean {
  const isUnderWay = waiting.some(({ reason }) => reason === "delayed");
  if (toTheEnd) return state === "over" || (acknowledged_at !== null && !isUnderWay);
  return !isUnderWay;
}

function reportText(report: DrillReport): string {
  const { arrived, waiting, missed, verdict, acknowledged_at, began_at } = report;
  const names = [...arrived, ...waiting, ...missed];
  const nameOf = (id: string) => names.find((way) => way.account_id === id)?.name ?? id;
  const rows = (what: string, ways: DrillReport["arrived"]) =>
    ways.map((way) => [
      what,
      way.name ?? "nobody",
      wayText(way),
      reasonText(way, nameOf),
      way.after_seconds === null ? "" : `${way.after_seconds} s`,
      short(way.error ?? "", 80),
    ]);
  const all = [...rows("arrived", arrived), ...rows("to come", waiting), ...rows("MISSED", missed)];
  const acked =
    acknowledged_at === null ? [] : [`acknowledged after ${acknowledged_at - began_at} s`];
  return [
    verdict.sentence,
    ...acked,
    ...(all.length > 0
      ? ["", table(["", "WHO", "WAY", "WHAT BECAME OF IT", "AFTER", "ERROR"], all)]
      : []),
  ].join("\n");
}
