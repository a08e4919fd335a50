import type { Command } from "commander";
import { sleep, systemClock } from "../src/ground/kit/clock.ts";
import type { FlagsGiven } from "../src/ground/kit/flags.ts";
import { cut, fits } from "../src/ground/kit/text.ts";
import { LINE_LEVEL, levelInText } from "../src/in/adapters/line.ts";
import { eventLimits } from "../src/in/ingest/event.ts";
import { tokenOf, urlOf } from "./connection.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { openText, unreadable } from "./files.ts";
import { levelHelp } from "./level.ts";
import { lineGroups } from "./lines.ts";
import { addFlags, jsonFlag, print, urlFlag } from "./options.ts";
import { answered, refusal } from "./refused.ts";
import { NoAnswer, type Reply, send as request } from "./request.ts";
import { terminal } from "./terminal.ts";

const BATCH_LINES = 500;
const BATCH_CHARS = 1_000_000;
const MOST_TRIES = 60;
/** How long a line may wait for further lines of its request. */
const LONGEST_WAIT_MS = 200;

const ingestFlags = {
  ...urlFlag,
  "--token <token>": { about: "ingest token (pti_…)", twin: "" },
  "--level <level>": `level of every event: ${levelHelp} (default: the level that the line names, else info)`,
  "--tag <tag...>": "tags of every event",
  "--quiet": "no progress",
  ...jsonFlag,
};
type IngestOptions = FlagsGiven<typeof ingestFlags>;

interface Totals {
  lines: number;
  accepted: number;
  rejected: number;
  /** Lines above the limit of a message, which were sent cut. */
  cut: number;
  alerted: number;
  retries: number;
}

export function registerIngest(program: Command): void {
  addFlags(program.command("ingest [file...]"), ingestFlags)
    .description(
      "send the lines of files (or standard input) as events; reports each line that is refused",
    )
    .action(ingest);
}

async function ingest(files: string[], options: IngestOptions): Promise<void> {
  if (!options.token)
    throw new CommandError(
      "an ingest token is needed: --token or BOX_TOKEN (box source add makes one)",
      exitCodes.usage,
    );
  const from = options.token === terminal().env["BOX_TOKEN"] ? "BOX_TOKEN" : "--token";
  const sending: Sending = {
    url: urlOf(options),
    token: tokenOf("pti", options.token, from),
    level: options.level,
    tags: options.tag,
  };
  const totals: Totals = { lines: 0, accepted: 0, rejected: 0, cut: 0, alerted: 0, retries: 0 };
  const show = progress(totals, options);
  for (const file of files.length === 0 ? ["-"] : files) {
    for await (const batch of batches(file)) {
      await send(batch, sending, totals);
      show();
    }
  }
  if (terminal().stderr.isTTY && !options.quiet) terminal().stderr.write("\n");
  print(
    totals,
    options,
    () =>
      `${totals.accepted} of ${totals.lines} lines accepted, ${totals.rejected} rejected, ${totals.alerted} counted into alerts${totals.cut > 0 ? `, ${totals.cut} cut to ${eventLimits.message} characters` : ""}`,
  );
  if (totals.accepted !== totals.lines)
    throw new CommandError(`${totals.lines - totals.accepted} lines were not accepted`);
}

/** Lines in groups that fit one request. They don't wait for the end of input: `tail -f` has none. */
async function* batches(file: string): AsyncGenerator<string[]> {
  let batch: string[] = [];
  let chars = 0;
  let since = 0;
  const take = (): string[] => {
    const full = batch;
    batch = [];
    chars = 0;
    return full;
  };
  for await (const lines of withPauses(lineGroups(openText(file)), file)) {
    for (const line of lines ?? []) {
      if (batch.length === 0) since = systemClock.mono();
      batch.push(line);
      chars += line.length;
      if (batch.length >= BATCH_LINES || chars >= BATCH_CHARS) yield take();
    }
    const isDue = lines === null || systemClock.mono() - since >= LONGEST_WAIT_MS;
    if (batch.length > 0 && isDue) yield take();
  }
  if (batch.length > 0) yield take();
}

/** The groups, and null whenever none came for `LONGEST_WAIT_MS`. */
async function* withPauses(
  groups: AsyncGenerator<string[]>,
  file: string,
): AsyncGenerator<string[] | null> {
  for (let coming = groups.next(); ; ) {
    const over = new AbortController();
    const pause = sleep(systemClock, LONGEST_WAIT_MS, over.signal).then(() => null);
    const got = await Promise.race([coming, pause]).catch((error: unknown) => {
      throw unreadable(file, error);
    });
    over.abort();
    if (got?.done) return;
    if (got !== null) coming = groups.next();
    yield got === null ? null : got.value;
  }
}

interface Sending {
  url: string;
  token: string;
  /** undefined: each line's own level. */
  level: number | undefined;
  tags: string[] | undefined;
}

type Result = { alerted: boolean } | { error: { message: string } };

async function send(lines: string[], options: Sending, totals: Totals): Promise<void> {
  const body = lines
    .map((line) =>
      JSON.stringify({
        message: cut(line, eventLimits.message),
        level: options.level ?? levelInText(line) ?? LINE_LEVEL,
        ...(options.tags ? { tags: options.tags } : {}),
      }),
    )
    .join("\n");
  const answer = await post(body, options, totals);
  totals.lines += lines.length;
  totals.cut += lines.filter((line) => !fits(line, eventLimits.message)).length;
  totals.accepted += answer.accepted;
  totals.rejected += answer.rejected;
  for (const [i, result] of answer.results.entries()) {
    if ("error" in result)
      terminal().stderr.write(
        `line refused: ${result.error.message}: ${lines[i]?.slice(0, 120)}\n`,
      );
    else if (result.alerted) totals.alerted++;
  }
}

interface Taken {
  accepted: number;
  rejected: number;
  results: Result[];
}

/** Sends until the box accepts. On 429, 5xx and without an answer it waits and tries again; other errors are final. */
async function post(body: string, { url, token }: Sending, totals: Totals): Promise<Taken> {
  for (let attempt = 0; ; attempt++) {
    const message = { method: "POST", path: "/v1/ingest", token, body } as const;
    const reply = await request(url, message).catch(waitable);
    if (!(reply instanceof NoAnswer) && reply.status === 202) return answered<Taken>(reply.text);
    const before = `; ${totals.accepted} lines were accepted before`;
    if (!isPassing(reply)) throw new CommandError(`${said(reply)}${before}`);
    if (attempt >= MOST_TRIES)
      throw new CommandError(`gave up after ${attempt} tries: ${said(reply)}${before}`);
    if (attempt === 0)
      terminal().stderr.write(`box: ${said(reply).replace(/\.$/, "")}. Trying again\n`);
    totals.retries++;
    const after = reply instanceof NoAnswer ? 0 : reply.retryAfter;
    await sleep(systemClock, Math.max(after * 1000, Math.min(5000, 100 * 2 ** attempt)));
  }
}

function waitable(error: unknown): NoAnswer {
  if (error instanceof NoAnswer) return error;
  throw error;
}

function isPassing(reply: Reply | NoAnswer): boolean {
  return reply instanceof NoAnswer || reply.status === 429 || reply.status >= 500;
}

function said(reply: Reply | NoAnswer): string {
  return reply instanceof NoAnswer ? reply.message : `the box refused them: ${refusal(reply.text)}`;
}

/** Shows a count on a terminal, and nothing elsewhere. */
function progress(totals: Totals, options: IngestOptions): () => void {
  if (!terminal().stderr.isTTY || options.quiet) return () => {};
  const start = systemClock.mono();
  return () => {
    const seconds = Math.max(0.001, (systemClock.mono() - start) / 1000);
    const rate = Math.round(totals.lines / seconds);
    terminal().stderr.write(
      `\r${totals.lines} lines  ${rate}/s  ${totals.alerted} in alerts  ${totals.rejected} rejected   `,
    );
  };
}
