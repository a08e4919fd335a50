import type { Command } from "commander";
import type { AuditAnswer, AuditEntry } from "../src/ground/audit/list.ts";
import { withCalled } from "../src/ground/kit/id-names.ts";
import { accountIds } from "./accounts.ts";
import { api, queried, v1 } from "./api.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { printable, short, when } from "./table.ts";
import { terminal } from "./terminal.ts";

export function registerAudit(program: Command): void {
  apiFlags(program.command("audit"), auditFlags)
    .description(
      "list changes, newest first: who changed what (owners and admins); with --json one JSON object a line",
    )
    .action(listEntries);
}

const auditFlags = {
  "--account <email>": "changes by this account (its id or email; me)",
  "--target <kind>":
    "changes of one kind of thing (rule), or of one thing (rule:errors, alert:131)",
  "--verb <name>": "this operation alone, for example replaceRule",
  "--limit <n>": { about: "how many", usual: "50" },
};

async function listEntries(options: GivenBy<typeof auditFlags>): Promise<void> {
  let left = Number(options.limit);
  if (!Number.isInteger(left) || left < 1)
    throw new CommandError("--limit must be a whole number from 1", exitCodes.usage);
  const { target, verb } = options;
  const account = options.account && (await accountIds(options))(options.account);
  for (let before: string | null | undefined; left > 0 && before !== null; ) {
    const asked = { target, verb, account, limit: Math.min(left, 500), before };
    const page: AuditAnswer = await api.get<AuditAnswer>(options, queried(v1("audit"), asked));
    for (const entry of page.entries) print(entry, options, () => entryLines(entry, page.names));
    left -= page.entries.length;
    before = page.next;
  }
  if (left === Number(options.limit) && !options.json)
    terminal().stdout.write("nothing of it was changed\n");
}

function entryLines(entry: AuditEntry, names: AuditAnswer["names"]): string {
  const { target, changes } = entry;
  const who =
    entry.email ?? named(entry.account_id, names) ?? (entry.via === "command" ? "operator" : "new");
  const from = entry.address === "" ? entry.hint : `${entry.via} ${byWhat(entry)} ${entry.address}`;
  const called = target.name === "" || target.name === target.id ? target.id : target.name;
  const name = names[called] ?? (isId(called) ? "" : called);
  const place = target.project === null || target.kind === "project" ? "" : `${target.project}/`;
  const head = `${when(entry.at)}  ${who}  ${entry.verb}  ${target.kind} ${place}${name}  (${from.trim()})`;
  const lines = changes.map(
    ({ field, from, to }) => `    ${field}: ${shown(from, names)} → ${shown(to, names)}`,
  );
  return [head, ...lines].map(printable).join("\n");
}

const isId = (text: string): boolean => /^[0-9a-f]{16}$/.test(text);

const named = (account: string | null, names: AuditAnswer["names"]): string | null =>
  account === null ? null : (names[account] ?? "somebody who was removed");

/** The id of a key identifies it; the id of a session means nothing to people. */
const byWhat = ({ via, hint }: AuditEntry): string => (via === "page" && isId(hint) ? "" : hint);

function shown(value: unknown, names: AuditAnswer["names"]): string {
  return value === null ? "none" : short(withCalled(JSON.stringify(value), names), 120);
}
