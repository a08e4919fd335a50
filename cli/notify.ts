import type { Command } from "commander";
import { secondsOfSpan } from "../src/ground/kit/wall-time.ts";
import type { Contact, Fallback, NotifyRule } from "../src/out/contacts/contact.ts";
import { accountIds, namesOf } from "./accounts.ts";
import { api } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import {
  contactName,
  contactsNamed,
  contactsOf,
  type PersonOptions,
  personFlags,
  personPath,
} from "./contacts.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { levelHelp, parseLevel } from "./level.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { printable } from "./table.ts";

/** Commands for notification rules and the fallback. */
export function registerNotify(program: Command): void {
  const notify = program
    .command("notify")
    .description("notification rules: which contact is used when");
  personFlags(notify.command("show"))
    .description("show the notification rules, in the form that notify set takes")
    .action(show);
  personFlags(notify.command("set"), setFlags)
    .description('replace the rules: --rule "0s: phone, mail" --rule "2m: call min critical"')
    .action(set);
  const when = "when a whole ladder reaches nobody, or no page gets through for ten minutes";
  const fallback = program.command("fallback").description(`the people who are paged ${when}`);
  apiFlags(fallback.command("show")).description(`show who is paged ${when}`).action(showFallback);
  apiFlags(fallback.command("set"), setFallbackFlags)
    .description(`set who is paged ${when}`)
    .action(setFallback);
}

const USUAL = "no rules: all verified contacts at once, calls after 2m";

async function show(options: PersonOptions): Promise<void> {
  const at = await personPath(options, "notify");
  const { rules } = await api.get<{ rules: NotifyRule[] }>(options, at);
  const contacts = await contactsOf(options);
  print({ rules }, options, () => notifyText(rules, contacts));
}

/** Each rule in the syntax of `set`, and the contacts that no rule uses. */
function notifyText(rules: readonly NotifyRule[], contacts: readonly Contact[]): string {
  const used = new Set(rules.flatMap((rule) => rule.contacts));
  const isOn = ({ state }: Contact) => state === "verified" || state === "failing";
  const idle = contacts.flatMap((contact) => {
    if (!isOn(contact)) return [`not used: ${contactName(contact)}, ${contact.state}`];
    const isNamed = rules.length === 0 || used.has(contact.id);
    return isNamed ? [] : [`not used: ${contactName(contact)}, no rule names it`];
  });
  const lines = rules.length === 0 ? [USUAL] : rules.map((rule) => ruleText(rule, contacts));
  return [...lines, ...idle].map(printable).join("\n");
}

function ruleText(
  { after_seconds, contacts: ids, min_level }: NotifyRule,
  contacts: readonly Contact[],
): string {
  const names = ids.map((id) => wordFor(id, contacts));
  const min = min_level === 0 ? "" : ` min ${min_level}`;
  return `${spanText(after_seconds)}: ${names.join(", ")}${min}`;
}

/** A word that `set` takes for this contact only. */
function wordFor(id: string, contacts: readonly Contact[]): string {
  const contact = contacts.find((one) => one.id === id);
  for (const word of [contact?.label ?? "", contact?.kind ?? ""]) {
    if (word === "" || /[,:]| min \S+$/.test(word)) continue;
    const [only, ...others] = contactsNamed(contacts, word);
    if (only?.id === id && others.length === 0) return word;
  }
  return id;
}

function spanText(seconds: number): string {
  return seconds > 0 && seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

const setFlags = {
  "--rule <rule...>": `"DELAY: CONTACT, CONTACT min LEVEL": DELAY after the rung (0s, 2m), CONTACT a label, kind or id, LEVEL the lowest (${levelHelp})`,
  "--usual":
    "remove your rules and use the default: all verified contacts at once, voice calls after two minutes",
};

async function set(options: GivenBy<typeof setFlags> & PersonOptions): Promise<void> {
  const { rule = [], usual = false } = options;
  if (usual === rule.length > 0)
    throw new CommandError("give one --rule or more, or --usual", exitCodes.usage);
  const contacts = rule.length === 0 ? [] : await contactsOf(options);
  const rules = rule.map((text) => parseRule(text, contacts));
  const at = await personPath(options, "notify");
  const answer = await api.put<{ rules: NotifyRule[] }>(options, at, { rules });
  print(answer, options, () => notifyText(answer.rules, contacts));
}

function parseRule(text: string, contacts: readonly Contact[]): NotifyRule {
  const [, span = "", names = "", min] =
    /^\s*(\w+)\s*:\s*(.+?)(?:\s+min\s+(\S+))?\s*$/.exec(text) ?? [];
  const after = span === "0" ? 0 : secondsOfSpan(span);
  if (after === null)
    throw new CommandError(
      `--rule must be like "0s: phone, mail" or "2m: call min critical", not "${text}"`,
      exitCodes.usage,
    );
  const ids = names.split(",").flatMap((name) => contactsNamed(contacts, name));
  return {
    after_seconds: after,
    contacts: [...new Set(ids.map(({ id }) => id))],
    min_level: min === undefined ? 0 : parseLevel(min),
  };
}

async function showFallback(options: ApiOptions): Promise<void> {
  const fallback = await api.get<Fallback>(options, "/v1/fallback");
  const nameOf = await namesOf(options);
  print(fallback, options, () => fallbackText(fallback, nameOf));
}

function fallbackText({ accounts, schedules }: Fallback, nameOf: (id: string) => string): string {
  const lines = [
    ...accounts.map(nameOf),
    ...schedules.map((schedule) => `the person on call in ${schedule}`),
  ];
  return lines.length === 0 ? "every owner" : lines.map(printable).join("\n");
}

const setFallbackFlags = {
  "--person <email...>": "these people (an email, or me)",
  "--schedule <schedule...>": "the person on call in PROJECT/SCHEDULE",
  "--owners": "every owner (the default)",
};

async function setFallback(options: GivenBy<typeof setFallbackFlags>): Promise<void> {
  const { person = [], schedule = [], owners = false } = options;
  if (owners === person.length + schedule.length > 0)
    throw new CommandError("give --person or --schedule, or --owners", exitCodes.usage);
  const accounts = person.length === 0 ? [] : person.map(await accountIds(options));
  const body = { accounts, schedules: schedule };
  const fallback = await api.put<Fallback>(options, "/v1/fallback", body);
  const nameOf = await namesOf(options);
  print(fallback, options, () => fallbackText(fallback, nameOf));
}
