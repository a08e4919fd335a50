import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { PeopleView, SeatFlags } from "../src/app/offline/people.ts";
import { systemClock } from "../src/ground/kit/clock.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { secondsOfSpan } from "../src/ground/kit/wall-time.ts";
import { flag, type OfflineOptions, offlineFlags, print } from "./options.ts";
import { givenPassword } from "./prompt.ts";
import { type Columns, tableOf, when } from "./table.ts";
import { terminal } from "./terminal.ts";

/** People on the data directory: the first account, and what an owner without a key can't do otherwise. */
export function registerPeople(program: Command): void {
  offlineFlags(program.command("pair-code"))
    .description("print a pairing code that makes one account, and a link")
    .option("--email <email>", "only this e-mail address may use the code")
    .option("--role <role>", "owner, admin or member (default member; owner for the first account)")
    .option("--ttl <length>", "how long the code is valid: 1h, 2d, or seconds (default 1h)")
    .addOption(
      flag("--public-url <url>", "address that the link begins with (default: the box's address)"),
    )
    .action(issue);
  const account = program.command("account").description("accounts: the people of this box");
  offlineFlags(account.command("list")).description("list accounts").action(listAccounts);
  offlineFlags(account.command("set-role <account> <role>"))
    .description("change the role of an account (its id or email)")
    .action(setRole);
  offlineFlags(account.command("remove <account>"))
    .description("remove an account (its id or email) with its keys")
    .action(removeAccount);
  offlineFlags(account.command("set-password <account>"))
    .description(
      "set a new password for an account (its id or email); signs its browsers out; its API keys stay valid",
    )
    .option(
      "--password-file <file>",
      "a file with the password (- = standard input; default: asks)",
    )
    .action(setPassword);
  const key = program.command("key").description("API keys");
  offlineFlags(key.command("list"))
    .description("list API keys, without the keys themselves")
    .option("--account <account>", "of one account (its id or email)")
    .action(listKeys);
  offlineFlags(key.command("create <account>"))
    .description("make an API key for an account (its id or email); it is shown this once")
    .option("--label <text>", "what it is for")
    .action(createKey);
  offlineFlags(key.command("revoke <id>")).description("revoke an API key").action(revokeKey);
  const session = program.command("session").description("browsers that are signed in");
  offlineFlags(session.command("list"))
    .description("list signed-in browsers, the one seen last first")
    .option("--account <account>", "of one account (its id or email)")
    .action(listSessions);
  offlineFlags(session.command("end <id>")).description("sign a browser out").action(endSession);
}

async function parts({ data }: OfflineOptions) {
  const [people, { atDesk }] = await Promise.all([
    import("../src/app/offline/people.ts"),
    import("../src/app/offline/desk.ts"),
  ]);
  return { people, atDesk, at: { data, clock: systemClock, random: systemRandom } };
}

/** Reads people on a data directory, and makes nothing. */
async function see<T>(options: OfflineOptions, use: (view: PeopleView) => T): Promise<T> {
  const { people, at } = await parts(options);
  return people.seePeople(at, use);
}

async function issue(options: OfflineOptions & SeatFlags): Promise<void> {
  const { ttl } = options;
  const flags =
    ttl === undefined ? options : { ...options, ttl: String(secondsOfSpan(ttl) ?? ttl) };
  const { atDesk, at } = await parts(options);
  const isFirst = !existsSync(join(at.data, "box.db"));
  const code = await atDesk(at, "pair-code", flags);
  if (isFirst)
    terminal().stderr.write(
      `No box has served ${at.data} yet. The code is for the one that will, and the link is below its address.\n`,
    );
  const plain = () =>
    [
      `pairing code  ${code.code}`,
      `role          ${code.role}`,
      `for           ${code.email ?? "anyone who has it"}`,
      `good until    ${when(code.expires_at)}`,
      `link          ${code.link}`,
    ].join("\n");
  print(code, options, plain);
}

async function listAccounts(options: OfflineOptions): Promise<void> {
  const accounts = await see(options, (view) => view.accounts());
  const columns: Columns<(typeof accounts)[number]> = {
    ID: ({ id }) => id,
    EMAIL: ({ email }) => email,
    ROLE: ({ role }) => role,
    NAME: ({ display_name }) => display_name,
    SINCE: ({ created_at }) => when(created_at),
  };
  print({ accounts }, options, () => tableOf(columns, accounts));
}

async function setRole(who: string, role: string, options: OfflineOptions): Promise<void> {
  const { atDesk, at } = await parts(options);
  const account = await atDesk(at, "account set-role", who, role);
  print(account, options, () => `${account.email} is ${account.role}`);
}

async function removeAccount(who: string, options: OfflineOptions): Promise<void> {
  const { atDesk, at } = await parts(options);
  const account = await atDesk(at, "account remove", who);
  print({ deleted: true, id: account.id }, options, () => `removed ${account.email}`);
}

async function listKeys(options: OfflineOptions & { account?: string }): Promise<void> {
  const keys = await see(options, (view) => view.keys(options.account));
  const columns: Columns<(typeof keys)[number]> = {
    ID: ({ id }) => id,
    ACCOUNT: ({ email }) => email,
    KEY: ({ hint }) => `…${hint}`,
    LABEL: ({ label }) => label,
    MADE: ({ created_at }) => when(created_at),
    "LAST USED": ({ last_used_at: at }) => (at === null ? "never" : when(at)),
  };
  print({ keys }, options, () => tableOf(columns, keys));
}

async function revokeKey(id: string, options: OfflineOptions): Promise<void> {
  const { atDesk, at } = await parts(options);
  await atDesk(at, "key revoke", id);
  print({ deleted: true, id }, options, () => `revoked ${id}`);
}

async function setPassword(
  who: string,
  options: OfflineOptions & { passwordFile?: string },
): Promise<void> {
  const { people, atDesk, at } = await parts(options);
  const password = await givenPassword(options.passwordFile, "New password, 8 to 72 characters: ");
  const hash = await people.hashGiven(password, at.random);
  const account = await atDesk(at, "account set-password", who, hash);
  print(account, options, () => `${account.email} has a new password`);
}

async function createKey(who: string, options: OfflineOptions & { label?: string }): Promise<void> {
  const { atDesk, at } = await parts(options);
  const made = await atDesk(at, "key create", who, options.label ?? "");
  print(made, options, () => `API key  ${made.key}\nid       ${made.id}`);
}

async function listSessions(options: OfflineOptions & { account?: string }): Promise<void> {
  const sessions = await see(options, (view) => view.sessions(options.account));
  const columns: Columns<(typeof sessions)[number]> = {
    ID: ({ id }) => id,
    ACCOUNT: ({ email }) => email,
    BY: ({ method }) => method,
    SINCE: ({ created_at }) => when(created_at),
    "LAST SEEN": ({ last_seen_at }) => when(last_seen_at),
    ADDRESS: ({ address }) => address,
    BROWSER: ({ agent }) => agent,
  };
  print({ sessions }, options, () => tableOf(columns, sessions));
}

async function endSession(id: string, options: OfflineOptions): Promise<void> {
  const { atDesk, at } = await parts(options);
  await atDesk(at, "session end", id);
  print({ deleted: true, id }, options, () => `signed out ${id}`);
}
