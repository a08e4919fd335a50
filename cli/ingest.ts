import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Command } from "commander";
import { eventLimits } from "../src/ingest/event.ts";
import { sleep, systemClock } from "../src/kit/clock.ts";
import { cut, fits } from "../src/kit/text.ts";
import { errorText } from "./api.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { flag, jsonFlag, print } from "./options.ts";

const BATCH_LINES = 500;
const BATCH_CHARS = 1_000_000;
const MOST_TRIES = 60;

interface IngestOptions {
  url: string;
  token?: string;
  level: string;
  tag?: string[];
  json?: boolean;
  quiet?: boolean;
}

interface Totals {
  lines: number;
  accepted: number;
  rejected: number;
  /** Lines longer than a message may be: sent cut. */
  cut: number;
  alerted: number;
  retries: number;
}

export function registerIngest(program: Command): void {
  program
    .command("ingest [file...]")
    .description("send lines of files (or standard input) as events; never drops one silently")
    .addOption(flag("--url <url>", "address of the box").default("http://127.0.0.1:8080"))
    .addOption(flag("--token <token>", "ingest token (pti_…)"))
    .option(
      "--level <n>",
      "level of every event: 100 debug, 200 info, 300 warn, 400 error, 500 critical",
      "200",
    )
    .option("--tag <tag...>", "tags of every event")
    .option("--quiet", "no progress")
    .addOption(jsonFlag())
    .action(ingest);
}

async function ingest(files: string[], options: IngestOptions): Promise<void> {
  if (!options.token)
    throw new CommandError(
      "an ingest token is needed: --token or BOX_TOKEN (box source add makes one)",
      exitCodes.usage,
    );
  const level = Number(options.level);
  if (!Number.isSafeInteger(level) || level < 0)
    throw new CommandError("--level must be an integer of at least 0", exitCodes.usage);
  const sending: Sending = { url: options.url, token: options.token, level, tags: options.tag };
  const totals: Totals = { lines: 0, accepted: 0, rejected: 0, cut: 0, alerted: 0, retries: 0 };
  const show = progress(totals, options);
  for (const file of files.length === 0 ? ["-"] : files) {
    for await (const batch of batches(open(file))) {
      await send(batch, sending, totals);
      show();
    }
  }
  if (process.stderr.isTTY && !options.quiet) process.stderr.write("\n");
  print(
    totals,
    options,
    () =>
      `${totals.accepted} of ${totals.lines} lines accepted, ${totals.rejected} rejected, ${totals.alerted} counted into alerts${totals.cut > 0 ? `, ${totals.cut} cut to ${eventLimits.message} characters` : ""}`,
  );
  if (totals.accepted !== totals.lines)
    throw new CommandError(`${totals.lines - totals.accepted} lines were not accepted`);
}

function open(file: string): Readable {
  return file === "-" ? process.stdin : createReadStream(file);
}

/** Lines in groups that fit one request. Empty lines are no events. */
async function* batches(input: Readable): AsyncGenerator<string[]> {
  let batch: string[] = [];
  let chars = 0;
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === "") continue;
    batch.push(line);
    chars += line.length;
    if (batch.length < BATCH_LINES && chars < BATCH_CHARS) continue;
    yield batch;
    batch = [];
    chars = 0;
  }
  if (batch.length > 0) yield batch;
}

interface Sending {
  url: string;
  token: string;
  level: number;
  tags: string[] | undefined;
}

type Result = { alerted: boolean } | { error: { message: string } };

async function send(lines: string[], options: Sending, totals: Totals): Promise<void> {
  const body = lines
    .map((line) =>
      JSON.stringify({
        message: cut(line, eventLimits.message),
        level: options.level,
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
      process.stderr.write(`line refused: ${result.error.message}: ${lines[i]?.slice(0, 120)}\n`);
    else if (result.alerted) totals.alerted++;
  }
}

/** Sends until the box has taken it: 429, 5xx and a box that is away are waited out; anything else is final. */
async function post(
  body: string,
  options: Sending,
  totals: Totals,
): Promise<{ accepted: number; rejected: number; results: Result[] }> {
  const { request } = await import("undici");
  for (let attempt = 0; ; attempt++) {
    const answer = await request(`${options.url.replace(/\/+$/, "")}/v1/ingest`, {
      method: "POST",
      headers: { authorization: `Bearer ${options.token}`, "content-type": "application/x-ndjson" },
      body,
    }).catch((error: Error) => error);
    if (!(answer instanceof Error) && answer.statusCode === 202)
      return (await answer.body.json()) as {
        accepted: number;
        rejected: number;
        results: Result[];
      };
    const text = answer instanceof Error ? answer.message : await answer.body.text();
    const passing =
      answer instanceof Error || answer.statusCode === 429 || answer.statusCode >= 500;
    if (!passing)
      throw new CommandError(
        `the box refused the events (${answer.statusCode}): ${errorText(text)}; ${totals.accepted} lines were accepted before`,
      );
    if (attempt >= MOST_TRIES)
      throw new CommandError(
        `gave up after ${attempt} tries: ${errorText(text)}; ${totals.accepted} lines were accepted before`,
      );
    totals.retries++;
    const after = answer instanceof Error ? 0 : Number(answer.headers["retry-after"] ?? 0);
    await sleep(systemClock, Math.max(after * 1000, Math.min(5000, 100 * 2 ** attempt)));
  }
}

/** A counting line on a terminal, nothing elsewhere. */
function progress(totals: Totals, options: IngestOptions): () => void {
  if (!process.stderr.isTTY || options.quiet) return () => {};
  const start = systemClock.mono();
  return () => {
    const seconds = Math.max(0.001, (systemClock.mono() - start) / 1000);
    const rate = Math.round(totals.lines / seconds);
    process.stderr.write(
      `\r${totals.lines} lines  ${rate}/s  ${totals.alerted} in alerts  ${totals.rejected} rejected   `,
    );
  };
}
