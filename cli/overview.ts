import type { Command } from "commander";
import type { Overview } from "../src/tenant/overview.ts";
import { namesOf } from "./accounts.ts";
import { api } from "./api.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { table, when } from "./table.ts";

export function registerOverview(program: Command): void {
  apiFlags(program.command("overview"), overviewFlags)
    .description(
      "show everything in short: alerts, who is on call, readiness, what each source sent",
    )
    .action(overview);
}

const overviewFlags = {
  "--after <project>": "continue after this project, which the page before printed",
};

async function overview(options: GivenBy<typeof overviewFlags>): Promise<void> {
  const after = options.after === undefined ? "" : `?after=${encodeURIComponent(options.after)}`;
  const answer = await api.get<Overview>(options, `/v1/overview${after}`);
  const nameOf = await namesOf(options);
  print(answer, options, () => overviewText(answer, nameOf));
}

function overviewText(
  { alerts, ready, projects, next }: Overview,
  nameOf: (id: string) => string,
): string {
  const { open, acknowledged, silenced, mine } = alerts;
  const head = `${open} open (${silenced} silenced), ${acknowledged} acknowledged, ${mine} yours`;
  const wrong = (ready?.wrong ?? []).map(({ check, detail }) => `${check}: ${detail}`);
  const stands = projects.map((each) => [
    each.project,
    each.alerts.open,
    each.alerts.acknowledged,
    channelsText(each.channels),
    each.on_call
      .map(({ schedule, accounts, off }) => {
        const nobody = off ? "nobody, outside of its hours" : "NOBODY";
        return `${schedule}: ${accounts.length === 0 ? nobody : accounts.map(nameOf).join(" + ")}`;
      })
      .join(", "),
  ]);
  const sources = projects.flatMap(({ project, sources: heard }) =>
    heard.map((each) => [
      project,
      each.name,
      each.kind,
      each.hour,
      each.last_event_at === null ? "" : when(each.last_event_at),
    ]),
  );
  return [
    ...(ready === null ? [head] : [`box is ${ready.status}; ${head}`]),
    ...wrong,
    table(["PROJECT", "OPEN", "ACKED", "CHANNELS", "ON CALL"], stands),
    table(["PROJECT", "SOURCE", "KIND", "LAST HOUR", "LAST EVENT"], sources),
    ...(next === null ? [] : [`more with --after ${next}`]),
  ].join("\n");
}

function channelsText(channels: Overview["projects"][number]["channels"]): string {
  const some = Object.entries(channels).filter(([, n]) => n > 0);
  return some.map(([state, n]) => `${n} ${state.replace("_", " ")}`).join(", ") || "NONE";
}
