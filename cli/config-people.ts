import type { Account } from "../src/people/account.ts";
import { foldEmail } from "../src/people/email.ts";
import type { Invitation } from "../src/people/pairing.ts";
import type { ConfigDocument } from "../src/records/config-file/document.ts";
import { allAccounts } from "./accounts.ts";
import { api } from "./api.ts";
import { ofFile } from "./config-plan.ts";
import type { ApiOptions } from "./connection.ts";
import { printable } from "./table.ts";
import { terminal } from "./terminal.ts";

/** The people of a file. People without an account get one; existing accounts are neither changed nor removed. */

interface PeoplePlan {
  /** People without an account. */
  missing: ConfigDocument["people"];
  /** Sentences on accounts that differ from the file. */
  others: string[];
  apply(): Promise<MadePerson[]>;
}

export interface MadePerson {
  email: string;
  role: string;
  /** The link of the invitation; undefined: none was asked for. */
  link?: string;
  code?: string;
}

/** Throws CommandError with the file's lines. */
export async function planPeople(
  options: ApiOptions,
  document: ConfigDocument,
): Promise<PeoplePlan> {
  const nobody: PeoplePlan = { missing: [], others: [], apply: async () => [] };
  if (document.people.length === 0) return nobody;
  const accounts = await allAccounts(options);
  const there = new Map(accounts.map((one) => [foldEmail(one.email), one]));
  const plan: PeoplePlan = { ...nobody, missing: [], others: [] };
  const puts: ((query: string) => Promise<Account>)[] = [];
  for (const [i, person] of document.people.entries()) {
    const { email, role } = person;
    const account = there.get(foldEmail(email));
    if (account !== undefined) {
      if (account.role !== role)
        plan.others.push(`${email} stays ${account.role}, although the file says ${role}`);
      continue;
    }
    const faults = ofFile(`person ${email}`, ({ details, code }) =>
      document.faultsAt(`/people/${i}`, details.length > 0 ? details : [{ reason: code }]),
    );
    const put = (query: string) =>
      api.post<Account>(options, `/v1/accounts${query}`, person).catch(faults);
    await put("?dry_run=true");
    plan.missing.push(person);
    puts.push(put);
  }
  const apply = async () => {
    const made: MadePerson[] = [];
    for (const put of puts) {
      const { email, role } = await put("");
      made.push({ email, role });
    }
    return made;
  };
  return { ...plan, apply };
}

export function showPeople({ missing, others }: PeoplePlan): void {
  if (missing.length + others.length === 0) return;
  const lines = [
    ...missing.map(({ email, role }) => `  create ${role} ${printable(email)}`),
    ...others.map((line) => `  ${printable(line)}`),
  ];
  terminal().stdout.write(`people\n${lines.join("\n")}\n`);
}

const WEEK = 604_800;

/** Makes a code for each person, as a link. */
export async function invitePeople(
  options: ApiOptions,
  people: readonly MadePerson[],
): Promise<MadePerson[]> {
  const invited: MadePerson[] = [];
  for (const { email, role } of people) {
    const body = { email, role, ttl_seconds: WEEK };
    const { link, code } = await api.post<Invitation>(options, "/v1/pair/codes", body);
    invited.push({ email, role, link: link || code, code });
  }
  return invited;
}
