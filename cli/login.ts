import type { Command } from "commander";
import { plainUrl, tokenOf, urlOf } from "./connection.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { loginFile, removeLogin, writeLogin } from "./login-file.ts";
import { addFlags, apiFlags, type GivenBy, jsonFlag, print } from "./options.ts";
import { ask, givenPassword } from "./prompt.ts";
import { answered, RefusedError } from "./refused.ts";
import { send } from "./request.ts";

const loginFlags = {
  "--code <text>": "redeem a pairing code: the code alone, or all that box pair-code printed",
  "--email <email>": "your e-mail address, if the code isn't bound to one",
  "--name <name>": "your name",
  "--password-file <file>":
    "a file with the account's password (- = standard input; default: asks)",
};
type LoginOptions = GivenBy<typeof loginFlags>;

export function registerLogin(program: Command): void {
  apiFlags(program.command("login"), loginFlags)
    .description("store a box's address and an API key for all later commands of this user")
    .action(login);
  addFlags(program.command("logout"), jsonFlag)
    .description("remove the stored address and key; the key stays valid")
    .action((options: { json?: boolean }) => {
      const wasThere = removeLogin();
      print({ removed: wasThere }, options, () => (wasThere ? "forgotten" : "there was no login"));
    });
}

interface Me {
  account: { email: string; role: string };
}

async function login(options: LoginOptions): Promise<void> {
  const code = options.code === undefined ? null : codeIn(options.code);
  const url = options.url === undefined && code?.url ? code.url : urlOf(options);
  const key = code === null ? await givenKey(options) : await redeem(url, code.code, options);
  const { account } = await need<Me>(url, { method: "GET", path: "/v1/me", token: key });
  writeLogin({ url, key });
  const { email, role } = account;
  const file = loginFile();
  print({ url, email, role, file }, options, () => `${email} (${role}) at ${url}, kept in ${file}`);
}

/** The code and the link's address, from the output of `box pair-code`. */
function codeIn(text: string): { code: string; url: string | null } {
  const code = /\b[0-9a-f]{48}\b/.exec(text)?.[0];
  if (code === undefined)
    throw new CommandError(
      "--code holds no pairing code (48 digits and letters): box pair-code makes one",
      exitCodes.usage,
    );
  const link = /(https?:\S+)\/pair#code=/.exec(text)?.[1];
  return { code, url: link === undefined ? null : plainUrl(link) };
}

async function givenKey(options: LoginOptions): Promise<string> {
  if (options.key !== undefined) return tokenOf("ptk", options.key, "--key");
  const key = await ask("API key (ptk_…): ", "--key or --code is needed", { hidden: true });
  return tokenOf("ptk", key.trim(), "what you typed");
}

/** Redeems a code for an account. Returns its key. */
async function redeem(url: string, code: string, options: LoginOptions): Promise<string> {
  const { email, name, passwordFile } = options;
  const question = "Password for your account, 8 to 72 characters: ";
  const password = await givenPassword(passwordFile, question);
  const body = {
    code,
    password,
    ...(email === undefined ? {} : { email }),
    ...(name === undefined ? {} : { display_name: name }),
  };
  const paired = await need<{ api_key: string }>(url, { method: "POST", path: "/v1/pair", body });
  return paired.api_key;
}

async function need<T>(url: string, message: Parameters<typeof send>[1]): Promise<T> {
  const reply = await send(url, message);
  if (reply.status < 300) return answered<T>(reply.text);
  throw new RefusedError(reply);
}
