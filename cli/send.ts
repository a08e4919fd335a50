import type { Command } from "commander";
import type { FlagsGiven } from "../src/ground/kit/flags.ts";
import { tokenOf, urlOf } from "./connection.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { levelHelp } from "./level.ts";
import { addFlags, jsonFlag, print, urlFlag } from "./options.ts";
import { answered, RefusedError } from "./refused.ts";
import { send as request } from "./request.ts";
import { terminal } from "./terminal.ts";

const sendFlags = {
  ...urlFlag,
  "--token <token>": { about: "ingest token (pti_…)", twin: "" },
  "--level <level>": { about: levelHelp, usual: "error" },
  "--keys <name=value...>": "keys of the event",
  "--tag <tag...>": "its tags",
  ...jsonFlag,
};

export function registerSend(program: Command): void {
  addFlags(program.command("send <message>"), sendFlags)
    .description("send one event, and show what became of it")
    .action(send);
}

async function send(message: string, options: FlagsGiven<typeof sendFlags>): Promise<void> {
  if (!options.token)
    throw new CommandError(
      "an ingest token is needed: --token or BOX_TOKEN (box source add makes one)",
      exitCodes.usage,
    );
  const from = options.token === terminal().env["BOX_TOKEN"] ? "BOX_TOKEN" : "--token";
  const token = tokenOf("pti", options.token, from);
  const event = {
    message,
    level: options.level,
    ...(options.keys === undefined ? {} : { keys: keysOf(options.keys) }),
    ...(options.tag === undefined ? {} : { tags: options.tag }),
  };
  const sent = { method: "POST", path: "/v1/ingest", token, body: event } as const;
  const reply = await request(urlOf(options), sent);
  if (reply.status !== 202) throw new RefusedError(reply);
  const answer = answered<{ alerted: boolean }>(reply.text);
  print(answer, options, () =>
    answer.alerted ? "accepted: it counts into an alert" : "accepted: no rule made an alert of it",
  );
}

function keysOf(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      if (at > 0) return [pair.slice(0, at), pair.slice(at + 1)];
      throw new CommandError(`--keys takes name=value, not "${pair}"`, exitCodes.usage);
    }),
  );
}
