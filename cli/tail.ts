import type { Command } from "commander";
import { sleep, systemClock } from "../src/ground/kit/clock.ts";
import { levelName } from "../src/ground/kit/level.ts";
import type { LogLine } from "../src/in/ingest/logtail.ts";
import { api, queried, v1 } from "./api.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { levelHelp } from "./level.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { RefusedError } from "./refused.ts";
import { printable, when } from "./table.ts";
import { terminal } from "./terminal.ts";

const PAUSE_MS = 1000;
/** The most lines of one answer. */
const MOST_LINES = 200;

const tailFlags = {
  "--limit <n>": { about: "how many", usual: "50" },
  "--template <id>": "only of this template",
  "--q <text>": "with this in the message, upper or lower case",
  "--source <name>": "only of this source",
  "--level <level>": `of this level and higher: ${levelHelp}`,
  "--follow": "print lines as they come",
};
type TailOptions = GivenBy<typeof tailFlags>;

export function registerTail(program: Command): void {
  apiFlags(program.command("tail <project>"), tailFlags)
    .description(
      "show the newest kept log lines, newest last; --follow prints new ones as they come",
    )
    .action(tail);
}

async function tail(project: string, options: TailOptions): Promise<void> {
  if (!/^\d+$/.test(options.limit))
    throw new CommandError("--limit must be an integer", exitCodes.usage);
  const { messages } = await linesOf(project, options, options.limit);
  if (options.follow) return follow(project, options, messages);
  print({ messages }, options, () => messages.map(lineText).join("\n"));
}

interface Tail {
  messages: LogLine[];
  /** An older box doesn't say it. */
  left_out?: number;
}

function linesOf(
  project: string,
  options: TailOptions,
  limit: string,
  since: number | null = null,
): Promise<Tail> {
  const { template, q, source, level } = options;
  const asked = { limit, since, template, q, source, level };
  return api.get<Tail>(options, queried(v1("projects", project, "logtail"), asked));
}

/** Prints a line for each, with --json a JSON object, and a note of how many lines came that it couldn't print. */
async function follow(
  project: string,
  options: TailOptions,
  first: readonly LogLine[],
): Promise<never> {
  let last = 0;
  const show = (lines: readonly LogLine[]): void => {
    const fresh = lines.filter(({ id }) => Number(id) > last);
    for (const line of fresh) print(line, options, () => lineText(line));
    last = Math.max(last, ...fresh.map(({ id }) => Number(id)));
  };
  let isOld = false;
  const next = async (): Promise<Tail> => {
    try {
      return await linesOf(project, options, String(MOST_LINES), isOld ? null : last);
    } catch (error) {
      if (isOld || !isOldBox(error)) throw error;
      isOld = true;
      return next();
    }
  };
  for (show(first); ; ) {
    await sleep(systemClock, PAUSE_MS);
    const { messages, left_out = 0 } = await next();
    if (left_out > 0)
      terminal().stderr.write(
        `box: +${left_out.toLocaleString("en")} not shown: lines come faster than they are read\n`,
      );
    show(messages);
  }
}

/** An older box doesn't know `since`, and says so: it gives its newest lines, of which those that were shown are left out. */
function isOldBox(error: unknown): boolean {
  return error instanceof RefusedError && error.status === 400 && error.message.includes("since");
}

function lineText({ received_at, level, source, message }: LogLine): string {
  return `${when(received_at)} ${levelName(level).padEnd(8)} ${printable(source)}  ${printable(message)}`;
}
