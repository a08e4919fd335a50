import type { Account } from "../src/people/account.ts";
import type { Asker } from "./asker.ts";
import type { ApiOptions } from "./connection.ts";

export interface QuickstartOptions extends ApiOptions {
  data: string;
  email?: string;
  passwordFile?: string;
  by?: string;
  address?: string;
  server?: string;
  project: string;
  test?: boolean;
  wait: string;
}

/** What the parts of quickstart need. */
export interface Quickstart {
  options: QuickstartOptions;
  asker: Asker;
  /** Prints a line for the person; with --json to standard error. */
  say(line: string): void;
}

export type Me = Pick<Account, "id" | "email" | "role">;
