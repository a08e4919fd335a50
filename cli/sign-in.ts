import { type Command, Option } from "commander";
import type { Provider } from "../src/people/oidc/provider.ts";
import { callApi, path } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { apiFlags, dataFlag, flag, jsonFlag, print } from "./options.ts";
import { secretHelp, withSecrets } from "./secrets.ts";
import { table } from "./table.ts";

type Shown = Provider & { redirect_uri: string };

interface Given extends ApiOptions {
  name?: string;
  issuer?: string;
  clientId?: string;
  clientSecret?: string;
  scope?: string[];
  groupsClaim?: string;
  role?: string[];
  domain?: string[];
  test: boolean;
}

/** `box sign-in` for owners. Passwords are turned on and off on the machine itself. */
export function registerSignIn(program: Command): void {
  const signIn = program.command("sign-in").description("how people sign in");
  signIn
    .command("password <on|off>")
    .description("turn passwords on or off; only on the box's machine, so that there is a way back")
    .addOption(dataFlag())
    .addOption(jsonFlag())
    .action(setPasswords);
  const provider = signIn
    .command("provider")
    .description("OpenID Connect providers that people sign in by");
  apiFlags(provider.command("list")).description("list providers").action(list);
  fields(provider.command("add"))
    .description("add a provider")
    .action(async (options: Given) => put(options, "POST", path("v1", "sign-in", "providers")));
  fields(provider.command("change <id>"))
    .description("change a provider (what is left out stays)")
    .action(async (id: string, options: Given) => put(options, "PUT", at(id)));
  apiFlags(provider.command("test <id>"))
    .description("read a provider's settings, as a test")
    .action(test);
  apiFlags(provider.command("remove <id>"))
    .description("remove a provider; sessions that it opened go on")
    .action(async (id: string, options: ApiOptions) => {
      const answer = await callApi<object>(options, "DELETE", at(id));
      print(answer, options, () => `removed ${id}`);
    });
}

const at = (id: string) => path("v1", "sign-in", "providers", id);

function fields(command: Command): Command {
  return apiFlags(command)
    .option("--name <name>", "name on the sign-in page")
    .option("--issuer <url>", "the provider's own address for itself (issuer)")
    .option("--client-id <id>", "this box's client id at the provider")
    .addOption(flag("--client-secret <secret>", `its secret; ${secretHelp}`, "sign_in"))
    .option("--scope <scope...>", "scopes to ask for (default openid email profile)")
    .option("--groups-claim <claim>", "the claim that lists groups (default groups)")
    .addOption(new Option("--role <group=role...>", "the role that a group gives, at each sign-in"))
    .option(
      "--domain <domain...>",
      "everybody with a verified address of these domains may sign in",
    )
    .option("--no-test", "store it without asking the provider");
}

async function put(options: Given, method: "POST" | "PUT", to: string): Promise<void> {
  const { clientSecret } = await withSecrets({ clientSecret: options.clientSecret });
  const answer = await callApi<Shown>(options, method, to, {
    name: options.name,
    issuer: options.issuer,
    client_id: options.clientId,
    client_secret: clientSecret,
    scopes: options.scope,
    groups_claim: options.groupsClaim,
    ...(options.role === undefined ? {} : { roles: Object.fromEntries(options.role.map(pair)) }),
    domains: options.domain,
    test: options.test,
  });
  print(
    answer,
    options,
    () => `${answer.name} is stored: ${answer.id}\nredirect URI  ${answer.redirect_uri}`,
  );
}

/** A group's name may contain an equals sign, a role's doesn't. */
function pair(text: string): [group: string, role: string] {
  const mark = text.lastIndexOf("=");
  if (mark < 1) throw new CommandError(`--role ${text}: write it as GROUP=ROLE`, exitCodes.usage);
  return [text.slice(0, mark), text.slice(mark + 1)];
}

async function list(options: ApiOptions): Promise<void> {
  const to = path("v1", "sign-in", "providers");
  const answer = await callApi<{ providers: Shown[] }>(options, "GET", to);
  const row = ({ id, name, issuer, client_id, domains }: Shown) => [
    id,
    name,
    issuer,
    client_id,
    domains.join(" ") || "the invited",
  ];
  print(answer, options, () =>
    answer.providers.length === 0
      ? "no providers: box sign-in provider add makes one"
      : table(["ID", "NAME", "ISSUER", "CLIENT", "FOR"], answer.providers.map(row)),
  );
}

async function test(id: string, options: ApiOptions): Promise<void> {
  const answer = await callApi<{ ok: boolean; error: string | null }>(
    ...([options, "POST", `${at(id)}/test`] as const),
  );
  print(answer, options, () => answer.error ?? "it answers");
}

async function setPasswords(to: string, options: { data: string; json?: boolean }): Promise<void> {
  if (to !== "on" && to !== "off")
    throw new CommandError(`on or off, not "${to}"`, exitCodes.usage);
  const [{ withPeople }, { systemClock }, { systemRandom }] = await Promise.all([
    import("../src/app/desk/people.ts"),
    import("../src/ground/kit/clock.ts"),
    import("../src/ground/kit/random.ts"),
  ]);
  const place = { data: options.data, clock: systemClock, random: systemRandom };
  const password = to === "on";
  withPeople(place, (desk) => desk.setPasswordsOpen(password));
  print({ password }, options, () => `passwords ${password ? "sign in" : "open nothing"}`);
}
