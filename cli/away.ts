import type { Command } from "commander";
import type { AwayAnswer } from "../src/core/oncall/away.ts";
import { systemClock, unixSeconds } from "../src/ground/kit/clock.ts";
import { api } from "./api.ts";
import { type PersonOptions, personFlags, personPath } from "./contacts.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { type GivenBy, print } from "./options.ts";
import { printable, tableOf, when } from "./table.ts";
import { spanEnd, timeHelp } from "./times.ts";

const spanFlags = {
  "--from <time>": `when it begins (default now): ${timeHelp}`,
  "--until <time>": "when it ends",
  "--for <length>": "or how long it lasts: 3d, 1d12h",
  "--note <text>": "why",
};
type SpanOptions = GivenBy<typeof spanFlags> & PersonOptions;

export function registerAway(program: Command): void {
  const away = program
    .command("away")
    .description("when people are away: their shifts are marked, and they are asked to find cover");
  personFlags(away.command("list")).description("list when you are away").action(list);
  personFlags(away.command("add"), spanFlags)
    .description("say that you are away for a while; you stay on call in your shifts")
    .action(add);
  personFlags(away.command("remove <number>"))
    .description("remove an away period, by its number in box away list")
    .action(remove);
  personFlags(away.command("calendar <address>"))
    .description(
      "read a calendar at an https address each hour: its busy all-day events are away periods (off = no calendar)",
    )
    .action(async (address: string, options: PersonOptions) => {
      const { spans } = await read(options);
      await write(options, { spans, ical: address === "off" ? null : address });
    });
}

const read = async (options: PersonOptions): Promise<AwayAnswer> =>
  api.get<AwayAnswer>(options, await personPath(options, "away"));

async function write(
  options: PersonOptions,
  body: Pick<AwayAnswer, "spans"> & { ical?: string | null },
): Promise<void> {
  const answer = await api.put<AwayAnswer>(options, await personPath(options, "away"), body);
  print(answer, options, () => awayText(answer));
}

async function list(options: PersonOptions): Promise<void> {
  const answer = await read(options);
  print(answer, options, () => awayText(answer));
}

function awayText({ spans, ical, ical_spans, ical_read_at, ical_error }: AwayAnswer): string {
  const rows = [
    ...spans.map((span, i) => ({ ...span, number: String(i + 1) })),
    ...ical_spans.map((span) => ({ ...span, number: "calendar" })),
  ];
  const columns = {
    "#": ({ number }: (typeof rows)[number]) => number,
    FROM: ({ from }: (typeof rows)[number]) => when(from),
    UNTIL: ({ until }: (typeof rows)[number]) => when(until),
    NOTE: ({ note }: (typeof rows)[number]) => note,
  };
  const read = ical_read_at === null ? "not read yet" : `read ${when(ical_read_at)}`;
  const said = ical_error === null ? read : `${read}; the last attempt failed: ${ical_error}`;
  return [
    rows.length === 0 ? "never away" : tableOf(columns, rows),
    ...(ical === null ? [] : [printable(`calendar ${ical}, ${said}`)]),
  ].join("\n");
}

async function add(options: SpanOptions): Promise<void> {
  const { from = unixSeconds(systemClock), note = "" } = options;
  const until = spanEnd(options, from);
  const { spans } = await read(options);
  await write(options, { spans: [...spans, { from, until, note }] });
}

async function remove(number: string, options: PersonOptions): Promise<void> {
  const { spans } = await read(options);
  const index = Number(number) - 1;
  if (spans[index] === undefined)
    throw new CommandError(
      `there is no away period ${number}: box away list shows them`,
      exitCodes.usage,
    );
  await write(options, { spans: spans.filter((_, i) => i !== index) });
}
