import type { Command } from "commander";
import { systemClock, unixSeconds } from "../src/ground/kit/clock.ts";
import type { Flags } from "../src/ground/kit/flags.ts";
import type { Contact } from "../src/out/contacts/contact.ts";
import { contactKindList } from "../src/out/services/list.ts";
import type { SentNow } from "../src/tenant/contact-verbs.ts";
import { accountIds } from "./accounts.ts";
import { api, v1 } from "./api.ts";
import { CommandError } from "./exit.ts";
import { someOf } from "./nearest.ts";
import { apiFlags, flag, type GivenBy, print } from "./options.ts";
import { ask } from "./prompt.ts";
import { RefusedError } from "./refused.ts";
import { secretHelp, withSecrets } from "./secrets.ts";
import { age, agoOrNever, type Columns, tableOf } from "./table.ts";
import { terminal } from "./terminal.ts";

const personFlag = { "--person <email>": "for another person (owners and admins)" };
export type PersonOptions = GivenBy<typeof personFlag>;

export function registerContacts(program: Command): void {
  const contact = program
    .command("contact")
    .description("contacts: the ways to reach you, or another person");
  const kinds = contactKindList.kinds.map(({ kind }) => kind).filter((kind) => kind !== "web_push");
  personFlags(contact.command("list")).description("list your contacts").action(list);
  personFlags(contact.command("add <kind> <address>"))
    .description(
      `add a contact: ${kinds.join(", ")} (address - = standard input); the box sends a code through it, and at a terminal the command asks for the code`,
    )
    .option("--label <label>", "your name for it: phone, mail")
    .addOption(
      flag(
        "--secret <secret>",
        `of a webhook: the secret that signs pages; ${secretHelp}`,
        "contact",
      ),
    )
    .action(add);
  personFlags(contact.command("verify <contact> [code]"))
    .description(
      "confirm a contact with the code that came through it; without a code, send a new one",
    )
    .action(verify);
  personFlags(contact.command("test <contact>"))
    .description("send a test through a contact, like a page")
    .action(test);
  for (const verb of ["off", "on"] as const)
    personFlags(contact.command(`${verb} <contact>`))
      .description(
        verb === "off"
          ? "turn a contact off; it stays, and pages don't use it"
          : "turn a contact on again",
      )
      .action(async (named: string, options: PersonOptions) => {
        const { at, contact: found } = await placeOf(options, named);
        const state = verb === "off" ? "off" : "verified";
        const changed = await api.patch<Contact>(options, at, { state });
        print(changed, options, () => `${contactName(found)} is ${verb}`);
      });
  personFlags(contact.command("delete <contact>"))
    .description("delete a contact and the pages that wait for it")
    .action(async (named: string, options: PersonOptions) => {
      const { at, contact: found } = await placeOf(options, named);
      const answer = await api.delete<object>(options, at);
      print(answer, options, () => `deleted ${contactName(found)}`);
    });
}

/** Adds the flag for another person's email. The box decides who may use it. */
export const personFlags = (command: Command, own: Flags = {}): Command =>
  apiFlags(command, { ...personFlag, ...own });

/** `/v1/accounts/{account}/…` of the person that the flags name. Throws CommandError that lists the accounts. */
export async function personPath(options: PersonOptions, ...rest: string[]): Promise<string> {
  const { person } = options;
  const account = person === undefined ? "me" : (await accountIds(options))(person);
  return v1("accounts", account, ...rest);
}

export async function contactsOf(options: PersonOptions): Promise<Contact[]> {
  const at = await personPath(options, "contacts");
  return (await api.get<{ contacts: Contact[] }>(options, at)).contacts;
}

/** `phone (ntfy …7f3a)`: its name, kind and address. */
export function contactName({ kind, label, address }: Contact): string {
  return label === "" ? `${kind} ${address}` : `${label} (${kind} ${address})`;
}

/** Other words that people use for kinds. */
const WORDS: Readonly<Record<string, string>> = {
  mail: "email",
  text: "sms",
  call: "voice",
  browser: "web_push",
};

/** The contacts with this id, else label, else kind. Throws CommandError that lists the contacts. */
export function contactsNamed(contacts: readonly Contact[], asked: string): Contact[] {
  const word = asked.trim().toLowerCase();
  const kindOf = WORDS[word] ?? word.replaceAll("-", "_");
  const ways: ((contact: Contact) => boolean)[] = [
    ({ id }) => id === word,
    ({ label }) => label.toLowerCase() === word,
    ({ kind }) => kind === kindOf,
  ];
  for (const fits of ways) {
    const found = contacts.filter(fits);
    if (found.length > 0) return found;
  }
  const there = contacts.map((one) => one.label || one.kind);
  throw new CommandError(
    `there is no contact "${asked}"; ${there.length === 0 ? "there is none yet: box contact add KIND ADDRESS makes one" : `there is ${someOf(asked, there)}`}`,
  );
}

/** The path of the contact that a person names. Throws CommandError where none or several match. */
async function placeOf(options: PersonOptions, asked: string) {
  const found = contactsNamed(await contactsOf(options), asked);
  const [contact] = found;
  if (contact === undefined || found.length > 1)
    throw new CommandError(
      `${found.length} contacts are called "${asked}": ${found.map(({ id, address }) => `${id} (${address})`).join(", ")}`,
    );
  return { at: await personPath(options, "contacts", contact.id), contact };
}

async function list(options: PersonOptions): Promise<void> {
  const contacts = await contactsOf(options);
  const now = unixSeconds(systemClock);
  const columns: Columns<Contact> = {
    ID: ({ id }) => id,
    KIND: ({ kind }) => kind,
    LABEL: ({ label }) => label,
    ADDRESS: ({ address }) => address,
    STATE: ({ state }) => state,
    "LAST TOOK": ({ last_ok_at }) => agoOrNever(last_ok_at),
    SHOWN: ({ shown_at }) => (shown_at === null ? "" : `${age(shown_at, now)} ago`),
    "LAST ERROR": ({ last_error }) => last_error ?? "",
  };
  print({ contacts }, options, () =>
    contacts.length === 0
      ? "no contacts: box contact add KIND ADDRESS makes one"
      : tableOf(columns, contacts),
  );
}

async function add(
  kind: string,
  address: string,
  options: PersonOptions & { label?: string; secret?: string },
): Promise<void> {
  const { label, secret } = options;
  const fields = await withSecrets({ address, secret });
  const at = await personPath(options, "contacts");
  const body = { kind: WORDS[kind] ?? kind, ...fields, ...(label === undefined ? {} : { label }) };
  const made = await api.post<Contact & { secret?: string }>(options, at, body);
  const minted = made.secret === undefined ? [] : [`secret ${made.secret} (shown this once)`];
  const { contact, sent } = await sendCode(options, made);
  const verified = sent.ok && terminal().stdin.isTTY ? await askCode(options, made) : null;
  print({ ...made, ...contact, sent, ...verified }, options, () =>
    [
      made.id,
      ...minted,
      ...(sent.ok && verified === null
        ? [`A code was sent: box contact verify ${made.id} CODE${forWhom(options)}`]
        : []),
      ...(verified === null ? [] : [`${contactName(made)} is verified`]),
    ].join("\n"),
  );
  if (!sent.ok) throw notSent(made, sent, options);
}

const forWhom = ({ person }: PersonOptions): string =>
  person === undefined ? "" : ` --person ${person}`;

function notSent({ id }: Contact, { error = "" }: SentNow, options: PersonOptions): CommandError {
  return new CommandError(
    `the code could not be sent: ${error}. The contact is stored; once that is fixed: box contact verify ${id}${forWhom(options)}`,
  );
}

/** Sends a code to a contact. */
export async function sendCode(options: PersonOptions, { id }: Contact) {
  const at = await personPath(options, "contacts", id, "verify");
  const { sent, ...contact } = await api.post<Contact & { sent: SentNow }>(options, at, {});
  return { contact, sent };
}

async function giveCode(options: PersonOptions, id: string, code: string): Promise<Contact> {
  const at = await personPath(options, "contacts", id, "verify");
  return api.post<Contact>(options, at, { code });
}

/** Asks until the code is right; null for an empty answer, which means later. */
export async function askCode(
  options: PersonOptions,
  contact: Contact,
  asking = (question: string) => ask(question, "a code is needed"),
): Promise<Contact | null> {
  for (;;) {
    const question = `The code that was sent by ${contactName(contact)} (empty = later): `;
    const code = (await asking(question)).trim();
    if (code === "") return null;
    try {
      return await giveCode(options, contact.id, code);
    } catch (error) {
      if (!(error instanceof RefusedError) || !/^(code_refused|invalid_request)$/.test(error.code))
        throw error;
      terminal().stderr.write(`${error.message}\n`);
      if (/have a new one sent/.test(error.sentence)) return null;
    }
  }
}

async function verify(
  named: string,
  code: string | undefined,
  options: PersonOptions,
): Promise<void> {
  const { contact } = await placeOf(options, named);
  if (code !== undefined) {
    const verified = await giveCode(options, contact.id, code);
    print(verified, options, () => `${contactName(contact)} is verified`);
    return;
  }
  const { contact: asked, sent } = await sendCode(options, contact);
  if (!sent.ok) throw notSent(contact, sent, options);
  const verified = terminal().stdin.isTTY ? await askCode(options, contact) : null;
  print({ ...asked, sent, ...verified }, options, () =>
    verified === null
      ? `A code was sent: box contact verify ${contact.id} CODE${forWhom(options)}`
      : `${contactName(contact)} is verified`,
  );
}

async function test(named: string, options: PersonOptions): Promise<void> {
  const { at } = await placeOf(options, named);
  const answer = await api.post<SentNow>(options, `${at}/test`);
  print(answer, options, () => (answer.ok ? "it got through" : ""));
  if (!answer.ok) throw new CommandError(`it did not get through: ${answer.error ?? ""}`);
}
