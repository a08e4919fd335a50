import type { Account } from "../src/people/account.ts";
import type { Asker } from "./asker.ts";
import { dataFlag, type GivenBy } from "./options.ts";

export const quickstartFlags = {
  ...dataFlag,
  "--email <email>": "your e-mail address, for the first account",
  "--password-file <file>": "a file with your password (- = standard input; default: a new one)",
  "--by <kind>": "how it pages you: ntfy, email, sms, voice, pushover, telegram, slack, matrix",
  "--address <address>": "your address there (default for ntfy: a new topic)",
  "--server <url>": "your own ntfy server",
  "--project <project>": { about: "the project whose errors page you", usual: "quickstart" },
  "--test": "page now, without asking",
  "--no-test": "don't page now",
  "--wait <length>": { about: "how long the test waits for the answer", usual: "5m" },
};
export type QuickstartOptions = GivenBy<typeof quickstartFlags>;

/** What the parts of quickstart need. */
export interface Quickstart {
  options: QuickstartOptions;
  asker: Asker;
  /** Prints a line for the person; with --json to standard error. */
  say(line: string): void;
}

export type Me = Pick<Account, "id" | "email" | "role">;
