import { base62Secret } from "../src/ground/kit/ids.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import type { Contact, Gateway } from "../src/out/contacts/contact.ts";
import type { ContactKind, GatewayKind } from "../src/out/services/contact-kind.ts";
import { contactKindList } from "../src/out/services/list.ts";
import { api, v1 } from "./api.ts";
import { askCode, contactName, contactsOf, sendCode } from "./contacts.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { someOf } from "./nearest.ts";
import { qrLines } from "./qr.ts";
import type { Me, Quickstart } from "./quickstart-run.ts";
import { RefusedError } from "./refused.ts";
import { terminal } from "./terminal.ts";

/** A browser must add itself; a terminal can't do it. */
const kinds = contactKindList.kinds.filter(({ kind }) => kind !== "web_push");

/** The contact that the person chooses, with its gateway, verified. Throws CommandError that says what is missing. */
export async function chosenContact(run: Quickstart, me: Me): Promise<Contact> {
  const { options } = run;
  const kind = kindNamed(options.by ?? (await askKind(run)));
  const own = (await contactsOf(options)).filter((one) => one.kind === kind.kind);
  const known = own.find(({ state }) => state === "verified" || state === "failing");
  const server = await serve(run, me, kind);
  if (known !== undefined && options.address === undefined) return known;
  const begun = own.find(({ state }) => state === "unverified");
  if (begun !== undefined && options.address === undefined && (await goesOn(run, begun)))
    return verified(run, begun);
  const address = options.address ?? (await addressOf(run, kind));
  const made = await api.post<Contact>(options, v1("accounts", me.id, "contacts"), {
    kind: kind.kind,
    address,
    ...(kind.kind === "ntfy" ? { label: "phone" } : {}),
  });
  if (kind.kind === "ntfy") await showTopic(run, `${server}/${address}`);
  return verified(run, made);
}

/** Asks whether to verify a contact of an earlier run. One whose topic is no longer known is deleted. */
async function goesOn({ options, asker, say }: Quickstart, begun: Contact): Promise<boolean> {
  const name = contactName(begun);
  if (begun.kind === "ntfy") {
    const question = `An earlier run made ${name}. Is your phone subscribed to it? [Y/n] `;
    const said = await asker.ask(question, "without a person to ask, --address names a new topic");
    if (/^n/i.test(said)) {
      await api.delete(options, v1("accounts", "me", "contacts", begun.id));
      return false;
    }
  }
  say(`The code goes to ${name} again. For another one: --address`);
  return true;
}

/** Sends a code and asks for it. Throws CommandError that says what is missing. */
async function verified({ options, asker }: Quickstart, made: Contact): Promise<Contact> {
  const { sent } = await sendCode(options, made);
  if (!sent.ok)
    throw new CommandError(
      `it stopped at your contact: the code could not be sent: ${sent.error ?? ""}`,
    );
  const done = await askCode(options, made, (question) =>
    asker.ask(question, "the code is needed, a line of standard input"),
  );
  if (done === null)
    throw new CommandError(
      `it stopped at your contact, which is not verified. With the code: box contact verify ${made.id} CODE, then box quickstart again`,
    );
  return done;
}

async function askKind({ asker, say }: Quickstart): Promise<string> {
  say("How should the box ring you?");
  for (const { kind, about } of kinds) say(`  ${kind.padEnd(9)} ${about}`);
  const said = await asker.ask("[ntfy: free, no account] ", "--by is needed");
  return said === "" ? "ntfy" : said;
}

function kindNamed(name: string): ContactKind {
  const found = kinds.find(({ kind }) => kind === name);
  if (found !== undefined) return found;
  const names = kinds.map(({ kind }) => kind);
  throw new CommandError(
    `"${name}" is no way to be rung; there is ${someOf(name, names)}`,
    exitCodes.usage,
  );
}

async function addressOf({ asker }: Quickstart, { kind, fields }: ContactKind): Promise<string> {
  if (kind === "ntfy") return `box-${base62Secret(systemRandom, 20)}`;
  const about = fields.shape["address"]?.meta()?.description ?? "address";
  return asker.ask(`Your ${kind}, ${about}: `, "--address is needed");
}

/** Makes sure that the kind has a gateway. For ntfy it returns the server, without a slash at the end. */
async function serve(run: Quickstart, me: Me, { gateway: kind }: ContactKind): Promise<string> {
  const { options, say } = run;
  if (kind === null) return "";
  const isNtfy = kind.kind === "ntfy";
  const there = me.role === "member" ? null : await gatewayNow(run, kind.kind);
  const isMeant = there !== undefined && (options.server ?? there?.url) === there?.url;
  if (me.role !== "owner") {
    if (!isNtfy && there === undefined)
      throw new CommandError(`an owner has to set it up first: box gateway set ${kind.kind}`);
    return serverOf(there?.url ?? "");
  }
  if (isMeant) return serverOf(there?.url ?? "");
  const settings = isNtfy ? { url: options.server } : await askSettings(run, kind);
  try {
    const set = await api.put<Gateway>(options, v1("gateways", kind.kind), settings);
    say(`✓ ${kind.kind} answers at ${set.url || "its public address"}`);
    return serverOf(set.url);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    // The details repeat the message, unless a setting is wrong.
    const why = error.code === "gateway_refused" ? error.sentence : error.message;
    throw new CommandError(`it stopped at the gateway ${kind.kind}: ${why}`);
  }
}

const serverOf = (url: string): string => (url || "https://ntfy.sh").replace(/\/+$/, "");

/** undefined where there is none. */
async function gatewayNow({ options }: Quickstart, kind: string): Promise<Gateway | undefined> {
  const { gateways } = await api.get<{ gateways: Gateway[] }>(options, "/v1/gateways");
  return gateways.find((one) => one.kind === kind);
}

/** Optional settings that are usually needed. */
const ASKED: Readonly<Record<string, readonly string[]>> = {
  email: ["user", "password"],
  twilio: ["from"],
};

async function askSettings(
  { asker, say }: Quickstart,
  { kind, about, fields, open = [] }: GatewayKind,
): Promise<Record<string, string>> {
  say(`It goes by ${about}:`);
  const settings: Record<string, string> = {};
  for (const [field, schema] of Object.entries(fields.shape)) {
    if (schema.isOptional() && !ASKED[kind]?.includes(field)) continue;
    const hidden = field !== "url" && !open.includes(field);
    const question = `  ${schema.meta()?.description ?? field}: `;
    settings[field] = await asker.ask(question, `set it up first: box gateway set ${kind}`, {
      hidden,
    });
  }
  return settings;
}

async function showTopic({ say }: Quickstart, url: string): Promise<void> {
  const { host, pathname } = new URL(url);
  say("1. Install the ntfy app on your phone: ntfy.sh, Google Play, F-Droid or the App Store.");
  say(`2. In it subscribe to this topic (+); anyone who knows it can read the pages:\n`);
  say(`     ${pathname.slice(1)}      on ${host}\n`);
  say(`   or open ${url} on the phone (Android's app: ntfy://${host}${pathname})`);
  if (terminal().stdout.isTTY) for (const line of await qrLines(url)) say(`   ${line}`);
}
