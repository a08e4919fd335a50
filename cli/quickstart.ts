import type { Command } from "commander";
import { systemClock } from "../src/ground/kit/clock.ts";
import { base62Secret } from "../src/ground/kit/ids.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { api, v1 } from "./api.ts";
import { type Asker, createAsker } from "./asker.ts";
import { connectionOf, urlOf } from "./connection.ts";
import { contactName } from "./contacts.ts";
import { CommandError } from "./exit.ts";
import { readText } from "./files.ts";
import { readLogin, writeLogin } from "./login-file.ts";
import { apiFlags, print } from "./options.ts";
import { allProjects } from "./projects.ts";
import { chosenContact } from "./quickstart-contact.ts";
import { ring } from "./quickstart-ring.ts";
import {
  type Me,
  type Quickstart,
  type QuickstartOptions,
  quickstartFlags,
} from "./quickstart-run.ts";
import { answered, RefusedError } from "./refused.ts";
import { send } from "./request.ts";
import { terminal } from "./terminal.ts";

/** `box quickstart`: three questions and one test page. It names the step at which the page failed. */
export function registerQuickstart(program: Command): void {
  apiFlags(program.command("quickstart"), quickstartFlags)
    .description(
      "from nothing to a phone that rings: makes account, contact, gateway, project and rule, and sends a test page that you acknowledge on the phone; asks for every value that no flag gives",
    )
    .action(quickstart);
}

async function quickstart(given: QuickstartOptions): Promise<void> {
  const asker = createAsker();
  const { stdout, stderr } = terminal();
  const out = given.json ? stderr : stdout;
  const say = (line: string) => void out.write(`${line}\n`);
  const waitMs = given.wait * 1000;
  try {
    const { me, options } = await seat({ options: given, asker, say });
    const run = { options, asker, say };
    const contact = await chosenContact(run, me);
    say(`✓ ${contactName(contact)} is verified`);
    const test = given.test ?? (await shallRing(asker));
    const token = await wire(run, me);
    const rung = test ? await ring(run, { me, contact, token, waitMs }) : null;
    if (rung !== null) say(`\n${rung.said}`);
    const { id, kind } = contact;
    const { project } = options;
    const answer = { email: me.email, project, contact: { id, kind }, ...rung };
    const pages = await signInPage(urlOf(options));
    print(answer, options, () => whatNow(project, pages));
  } finally {
    asker.close();
  }
}

async function shallRing(asker: Asker): Promise<boolean> {
  const said = await asker.ask(
    "Shall I ring you now, as a test? [Y/n] ",
    "--test or --no-test is needed",
  );
  return !/^n/i.test(said);
}

/** The address of the sign-in page; null for a box without the console. */
async function signInPage(url: string): Promise<string | null> {
  const path = "/signin";
  const { status } = await send(url, { method: "GET", path, accept: "text/html" });
  return status === 200 ? url + path : null;
}

const whatNow = (project: string, pages: string | null): string =>
  [
    `From now on errors of the project ${project} ring you. A program sends one with`,
    `  TOKEN=$(box source add ${project} my-program)`,
    `  curl ${urlHint()}/v1/ingest -H "Authorization: Bearer $TOKEN" -d '{"message": "it broke", "level": 500}'`,
    "box connect KIND --project NAME connects what you run already; box doctor says whom nothing reaches.",
    ...(pages === null ? [] : [`All of it in a browser: ${pages}`]),
  ].join("\n");

const urlHint = (): string => readLogin()?.url ?? "http://127.0.0.1:8080";

/** The key's account, or a new one made on the data directory. Throws CommandError. */
async function seat(run: Quickstart): Promise<{ me: Me; options: QuickstartOptions }> {
  const { options, say } = run;
  const url = urlOf(options);
  await send(url, { method: "GET", path: "/healthz" });
  const isKnown = options.key !== undefined || readLogin()?.url === url;
  const key = isKnown ? connectionOf(options).key : await newSeat(run, url);
  const own = { ...options, url, key };
  const { account } = await api.get<{ account: Me }>(own, "/v1/me");
  say(`✓ you are ${account.email} (${account.role}) at ${url}`);
  return { me: account, options: own };
}

/** Makes a pairing code on the data directory, redeems it, and stores the key as `box login` does. Returns the key. */
async function newSeat({ options, asker, say }: Quickstart, url: string): Promise<string> {
  const email = options.email ?? (await asker.ask("Your e-mail: ", "--email is needed"));
  const code = await pairCode(options.data, email);
  const { passwordFile } = options;
  const made = passwordFile === undefined ? base62Secret(systemRandom, 20) : null;
  const password = made ?? (await readText(passwordFile ?? "-")).replace(/\r?\n$/, "");
  const body = { code, password, email };
  const reply = await send(url, { method: "POST", path: "/v1/pair", body });
  if (reply.status === 401)
    throw new CommandError(
      `no account for ${email}: the box at ${url} isn't the one of ${options.data} (--data), or ${email} has an account already (box login)`,
    );
  if (reply.status >= 300) throw new RefusedError(reply);
  const key = answered<{ api_key: string }>(reply.text).api_key;
  writeLogin({ url, key });
  if (made !== null) say(`  your password, shown this once: ${made}`);
  return key;
}

async function pairCode(data: string, email: string): Promise<string> {
  const { atDesk } = await import("../src/app/offline/desk.ts");
  return (await atDesk({ data, clock: systemClock, random: systemRandom }, "pair-code", { email }))
    .code;
}

const RULE = "errors";
const SOURCE = "quickstart-test";

/** Makes project, rule and source; existing ones stay as they are. Returns the source's token. */
async function wire({ options, say }: Quickstart, me: Me): Promise<string> {
  const { project } = options;
  const base = `/v1/projects/${encodeURIComponent(project)}`;
  await unlessThere(api.post(options, "/v1/projects", { name: project }));
  const rule = {
    name: RULE,
    match: { min_level: 400 },
    ...(await climbs(options, me)),
  };
  const made = await unlessThere(api.post<object>(options, `${base}/rules`, rule));
  say(
    made === null
      ? `✓ rule ${RULE} of ${project} stays as it is`
      : `✓ rule ${RULE} of ${project}: level error and above pages you`,
  );
  const source = { name: SOURCE };
  const token =
    (await unlessThere(api.post<{ token: string }>(options, `${base}/sources`, source))) ??
    (await api.post<{ token: string }>(options, `${base}/sources/${SOURCE}/rotate-token`));
  return token.token;
}

/** The project's default ladder where it pages this person, who was promised it; else a step of the rule's own. */
async function climbs(options: QuickstartOptions, me: Me): Promise<object> {
  const all = await allProjects(options);
  const usual = all.find(({ name }) => name === options.project)?.default_ladder ?? null;
  const at = v1("ladders", usual ?? "");
  const { steps } =
    usual === null
      ? { steps: [] }
      : await api.get<{ steps: { accounts: string[] }[] }>(options, at);
  return steps.some(({ accounts }) => accounts.includes(me.id))
    ? { ladder: usual }
    : { escalations: [{ accounts: [me.id], repeat_minutes: 5 }] };
}

/** null where the name exists already. */
async function unlessThere<T>(making: Promise<T>): Promise<T | null> {
  try {
    return await making;
  } catch (error) {
    if (error instanceof RefusedError && error.code === "name_taken") return null;
    throw error;
  }
}
