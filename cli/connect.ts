import type { Command } from "commander";
import { sleep, systemClock } from "../src/ground/kit/clock.ts";
import type { Proposal } from "../src/in/connect/apart.ts";
import type { ConnectionAnswer, HeardAnswer } from "../src/in/connect/connection.ts";
import { api, v1 } from "./api.ts";
import { urlOf } from "./connection.ts";
import { levelHelp } from "./level.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { printable, short } from "./table.ts";
import { terminal } from "./terminal.ts";

const connectFlags = {
  "--project <project>": { must: "the project that it sends to" },
  "--name <name>": "name of its source (default: the kind)",
  "--level <level>": `lowest level that the new rule matches: ${levelHelp} (default error)`,
  "--no-lines": "keep no log lines (default: keep them for a week)",
  "--wait": "wait for its first event, and show what became of it",
};
type ConnectOptions = GivenBy<typeof connectFlags>;

export function registerConnect(program: Command): void {
  apiFlags(program.command("connect <kind>"), connectFlags)
    .description(
      "connect a sender: makes its source, and a rule if none would match, and prints what to paste there",
    )
    .action(connect);
}

const LOOK_MS = 1000;

async function connect(kind: string, options: ConnectOptions): Promise<void> {
  const { project, name, level } = options;
  const answer = await api.post<ConnectionAnswer>(options, v1("projects", project, "connect"), {
    kind,
    name,
    level,
    ...(options.lines ? {} : { retain_logs: false }),
  });
  const made = { ...answer, set_up: withAddresses(answer.set_up, urlOf(options)) };
  if (!options.wait) {
    print(made, options, () => pasteText(made));
    return;
  }
  const from = v1("projects", project, "sources", made.name, "heard");
  // With --json, standard output holds only the object, so the text to paste goes to standard error.
  const beside = options.json ? terminal().stderr : terminal().stdout;
  beside.write(`${pasteText(made)}\n\nwaiting for its first event …\n`);
  for (;;) {
    const { heard } = await api.get<HeardAnswer>(options, from);
    if (heard !== null) {
      print({ ...made, heard }, options, () => heardText(heard));
      return;
    }
    await sleep(systemClock, LOOK_MS);
  }
}

function pasteText({ name, rules, made_rule, set_up }: ConnectionAnswer): string {
  const hears =
    made_rule === null
      ? `Rules that may match its events: ${rules.join(", ")}.`
      : `Made the rule ${made_rule}, because no rule matched its events.`;
  return [
    `Made the source ${name}. ${hears}`,
    "",
    `Paste this into ${set_up.where}:`,
    "",
    set_up.paste,
    "",
    ...set_up.notes.map((note) => `- ${note}`),
  ].join("\n");
}

/** A box that doesn't know its public address is called at the address that this terminal uses. */
function withAddresses({ where, paste, notes }: ConnectionAnswer["set_up"], url: string) {
  const { host, hostname, protocol } = new URL(url);
  const whole = (text: string) =>
    text
      .replace(/(?<!\bpath(?:_prefix)?:)(^|[\s'"=])(\/(?:v1|ping)\/)/gm, `$1${url}$2`)
      .replace(/\bhttp:(\/\/(?:\w+@)?HOST:PORT)\b/g, `${protocol}$1`)
      .replace(/\bHOST:PORT\b/g, host)
      .replace(/\bHOST\b/g, hostname);
  return { where, paste: whole(paste), notes: notes.map(whole) };
}

function heardText({
  message,
  template,
  rules,
  alert,
  pages,
  proposes,
}: NonNullable<HeardAnswer["heard"]>): string {
  const whom = pages.length === 0 ? "nobody" : pages.join(", ");
  const became =
    alert === null ? `no alert yet; one would page ${whom}` : `alert ${alert}, which pages ${whom}`;
  return [
    `first event: ${printable(short(message, 200))}`,
    `template: ${printable(short(template, 200))}`,
    rules.length === 0
      ? "no rule matches it: box rule set PROJECT FILE makes one"
      : `rules: ${rules.join(", ")}; ${became}`,
    ...(proposes === null ? [] : [proposalText(proposes)]),
  ].join("\n");
}

function proposalText({ rules, identifier_keys }: Proposal): string {
  const keys = identifier_keys.map((key) => printable(short(key, 200)));
  return `its labels name what it is about: with ${keys.join(", ")} in identifier_keys of ${rules.join(", ")} (box rule set), each such thing has an alert of its own`;
}
