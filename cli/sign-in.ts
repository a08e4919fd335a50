import type { Command } from "commander";
import { systemClock } from "../src/ground/kit/clock.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import type { Provider } from "../src/people/oidc/provider.ts";
import { api } from "./api.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { nounCommands } from "./noun.ts";
import { apiFlags, type GivenBy, offlineFlags, print } from "./options.ts";
import { secretHelp, withSecrets } from "./secrets.ts";

type Shown = Provider & { redirect_uri: string };

const providerFlags = {
  "--name <name>": "name on the sign-in page",
  "--issuer <url>": "the provider's issuer URL",
  "--client-id <id>": "this box's client id at the provider",
  "--client-secret <secret>": { about: `its secret; ${secretHelp}`, twin: "sign_in" },
  "--scope <scope...>": "scopes to ask for (default openid email profile)",
  "--groups-claim <claim>": "the claim that lists groups (default groups)",
  "--role <group=role...>": "the role that a group gives, at each sign-in",
  "--domain <domain...>": "everybody with a verified address of these domains may sign in",
  "--no-test": "store it without asking the provider",
} as const;
type Given = GivenBy<typeof providerFlags>;

/** `box sign-in` for owners. Passwords are turned on and off on the machine itself. */
export function registerSignIn(program: Command): void {
  const signIn = program.command("sign-in").description("how people sign in");
  offlineFlags(signIn.command("password <on|off>"))
    .description(
      "turn sign-in by password on or off; works only on the box's machine, so that nobody is locked out for good",
    )
    .action(setPasswords);
  const group = signIn
    .command("provider")
    .description("OpenID Connect providers that people sign in by");
  const provider = nounCommands(group, { of: "", one: "<id>", at: () => PROVIDERS });
  provider.list<Shown>(
    "list providers",
    {
      ID: ({ id }) => id,
      NAME: ({ name }) => name,
      ISSUER: ({ issuer }) => issuer,
      CLIENT: ({ client_id }) => client_id,
      FOR: ({ domains }) => domains.join(" ") || "the invited",
    },
    { none: "no providers: box sign-in provider add makes one" },
  );
  apiFlags(group.command("add"), providerFlags)
    .description("add a provider")
    .action(async (options: Given) => put(options, "post", PROVIDERS));
  provider.verb(
    "change",
    "change a provider (what is left out stays)",
    (place, options: Given) => put(options, "put", place),
    providerFlags,
  );
  provider.post(
    "test",
    "read a provider's settings, as a test",
    ({ error }: { error: string | null }) => error ?? "it answers",
  );
  provider.delete("remove a provider; sessions that began with it stay valid", "remove", "removed");
}

const PROVIDERS = "/v1/sign-in/providers";

async function put(options: Given, method: "post" | "put", to: string): Promise<void> {
  const { clientSecret } = await withSecrets({ clientSecret: options.clientSecret });
  const answer = await api[method]<Shown>(options, to, {
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

async function setPasswords(to: string, options: { data: string; json?: boolean }): Promise<void> {
  if (to !== "on" && to !== "off")
    throw new CommandError(`say on or off, not "${to}"`, exitCodes.usage);
  const { atDesk } = await import("../src/app/offline/desk.ts");
  const place = { data: options.data, clock: systemClock, random: systemRandom };
  const password = to === "on";
  await atDesk(place, "sign-in password", password);
  print({ password }, options, () => `passwords ${password ? "are on" : "are off"}`);
}
