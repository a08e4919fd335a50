import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { makeDirectory } from "../src/ground/kit/make-directory.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { terminal } from "./terminal.ts";

/** The box that the terminal's user calls, and the key. */
interface Login {
  readonly url: string;
  readonly key: string;
}

/** `$XDG_CONFIG_HOME/box/login.json`, or in `~/.config`. */
export function loginFile(): string {
  const { XDG_CONFIG_HOME: config, HOME: home } = terminal().env;
  return join(config || join(home || homedir(), ".config"), "box", "login.json");
}

/** null where there is none. Throws CommandError for a file with other content. */
export function readLogin(): Login | null {
  const file = loginFile();
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    // Missing or unreadable: a command that needs it reports that.
    return null;
  }
  try {
    const { url, key } = JSON.parse(text) as Partial<Login>;
    if (typeof url === "string" && typeof key === "string") return { url, key };
  } catch {
    // Reported below.
  }
  throw new CommandError(`${file} is no login file: box login writes a new one`, exitCodes.usage);
}

/** Only this user may read the file, because it holds a key. */
export function writeLogin(login: Login): void {
  const file = loginFile();
  makeDirectory(dirname(file));
  const fresh = `${file}.new`;
  rmSync(fresh, { force: true });
  writeFileSync(fresh, `${JSON.stringify(login)}\n`, { mode: 0o600, flag: "wx" });
  chmodSync(fresh, 0o600);
  renameSync(fresh, file);
}

/** Returns whether there was a login. */
export function removeLogin(): boolean {
  const wasThere = readLogin() !== null;
  rmSync(loginFile(), { force: true });
  return wasThere;
}
