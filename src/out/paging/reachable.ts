import type { Reader } from "../../ground/store/store.ts";
import type { NotifyRule } from "../contacts/contact.ts";
import { servedKinds } from "../contacts/gateways.ts";
import {
  hasContacts,
  type PagedContact,
  readNotify,
  usableContacts,
  type Way,
  waysOf,
} from "../contacts/notify.ts";
import { PAGES_PHONES, PUSHES_ITSELF } from "../outbox/phones.ts";
import { readSilence } from "../outbox/relay-silence.ts";

/** Who can be reached, and by what, as of one transaction; what it looked up once it knows. */
export interface Reachable {
  /**
   * Whether it is known at all: somebody has a verified contact, or phones can be paged. Without either a shared
   * channel may be everybody's way, and nobody is called unreachable.
   */
  readonly isKnown: boolean;
  /** Whether anybody has a verified contact. */
  readonly hasContacts: boolean;
  /** The person's contacts for an alert of this level. */
  ways(account: string, level: number): Way[];
  /** Whether anything reaches the person: a contact, or a phone that the project pages. */
  reaches(account: string, of: { projectId: number; level: number }): boolean;
  /** Whether the project pages a phone of theirs, as far as the relay has said. */
  hasPhone(account: string, projectId: number): boolean;
}

const PHONES = `SELECT 1 FROM relay UNION ALL SELECT 1 FROM integrations WHERE ${PUSHES_ITSELF} LIMIT 1`;
const PUSHES = `SELECT 1 FROM integrations WHERE project_id = ? AND enabled = 1 AND ${PAGES_PHONES} LIMIT 1`;

export function createReachable(reader: Reader): Reachable {
  const once = <K, V>(make: (key: K) => V): ((key: K) => V) => {
    const known = new Map<K, V>();
    return (key) => {
      if (!known.has(key)) known.set(key, make(key));
      return known.get(key) as V;
    };
  };
  const served = once((_: null) => servedKinds(reader));
  const silence = once((_: null) => readSilence(reader));
  const contacts = once((_: null) => hasContacts(reader));
  const isKnown = once((_: null) => contacts(null) || reader.sql<[]>(PHONES).get() !== undefined);
  const pushes = once(
    (projectId: number) => reader.sql<[projectId: number]>(PUSHES).get(projectId) !== undefined,
  );
  const person = once((account: string): { rules: NotifyRule[]; contacts: PagedContact[] } => ({
    rules: readNotify(reader, account),
    contacts: usableContacts(reader, account).filter(({ kind }) => served(null).has(kind)),
  }));
  const ways = (account: string, level: number) => waysOf({ ...person(account), level });
  const hasPhone = (account: string, projectId: number) => {
    if (!pushes(projectId)) return false;
    const { all, accounts } = silence(null);
    return all === null && !accounts.has(account);
  };
  return {
    get hasContacts() {
      return contacts(null);
    },
    get isKnown() {
      return isKnown(null);
    },
    ways,
    reaches: (account, { projectId, level }) =>
      ways(account, level).length > 0 || hasPhone(account, projectId),
    hasPhone,
  };
}
