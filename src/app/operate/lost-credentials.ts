import type { Sealer } from "../../ground/kit/sealer.ts";
import { type Unreadable, unreadableRows } from "../../ground/store/sealed.ts";
import type { Reader } from "../../ground/store/store.ts";

/** A stored credential whose key is lost. */
interface LostCredential extends Unreadable {
  /** The kind of its owner: "channel". */
  kind: string;
  /** "channel shop: chat". */
  name: string;
}

interface Named {
  kind: string;
  /** Selects the name by the row's id. */
  sql: string;
}

const inProject = (table: string, name: string): string =>
  `SELECT coalesce(p.name, 'shared') || ': ' || ${name} FROM ${table} AS t
   LEFT JOIN projects AS p ON p.id = t.project_id WHERE CAST(t.id AS TEXT) = ?`;

const NAMED: Readonly<Record<Unreadable["table"], Named>> = {
  integrations: {
    kind: "channel",
    sql: inProject("integrations", "coalesce(nullif(t.name, ''), t.type)"),
  },
  actions: { kind: "action", sql: inProject("actions", "t.name") },
  relay: { kind: "relay", sql: "SELECT relay_url FROM relay WHERE CAST(id AS TEXT) = ?" },
  gateways: { kind: "gateway", sql: "SELECT id FROM gateways WHERE id = ?" },
  sources: { kind: "source", sql: inProject("sources", "t.name") },
  contacts: {
    kind: "contact",
    sql: `SELECT a.email || ': ' || coalesce(nullif(c.label, ''), c.kind) FROM contacts AS c
      JOIN accounts AS a ON a.id = c.account_id WHERE c.id = ?`,
  },
  sign_in_providers: {
    kind: "sign-in provider",
    sql: "SELECT name FROM sign_in_providers WHERE id = ?",
  },
  away: {
    kind: "calendar of times away",
    sql: "SELECT email FROM accounts WHERE id = ?",
  },
};

/** The credentials that must be entered again unless their key is restored. */
export function lostCredentials(reader: Reader, sealer: Sealer): LostCredential[] {
  return unreadableRows(reader, sealer).map((row) => {
    const { kind, sql } = NAMED[row.table];
    const name = reader.sql<[id: string], string>(sql).pluck().get(row.id) ?? "";
    return { ...row, kind, name: `${kind} ${name}` };
  });
}

/** How many of each kind, for callers who may not read names. */
export function countsOf(lost: readonly LostCredential[]): string[] {
  const kinds = Map.groupBy(lost, ({ kind }) => kind);
  return [...kinds].map(([kind, of]) => `${of.length} ${kind}${of.length === 1 ? "" : "s"}`);
}
