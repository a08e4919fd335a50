import * as z from "zod";
import { text } from "../kit/fields.ts";
import { queryInteger, queryLimit } from "../kit/query-fields.ts";
import type { SqlValue } from "../store/database.ts";
import type { Reader, Tx } from "../store/store.ts";

const auditEntry = z
  .object({
    id: z.string(),
    at: z.int(),
    account_id: z.string().nullable().meta({
      description: "null: the operator of the machine, or somebody who had no account yet.",
    }),
    email: z.string().nullable().meta({ description: "The account's, as long as there is one." }),
    via: z.enum(["key", "assistant", "command", "pairing", "page"]).meta({
      description:
        "`assistant`: a program with the key said that it is one (`Box-Via: assistant`).",
    }),
    hint: z
      .string()
      .meta({ description: "The id of the key, the command, or how a page was answered." }),
    address: z.string().meta({ description: "The client's; empty for a command." }),
    verb: z.string().meta({ description: "The operation's name, or the command's." }),
    target: z.object({
      kind: z.string(),
      id: z.string().meta({ description: "It stays, whatever the thing is called." }),
      name: z.string().meta({ description: "As it was then; empty where it has none." }),
      project: z.string().nullable(),
    }),
    changes: z
      .array(z.object({ field: z.string(), from: z.unknown(), to: z.unknown() }))
      .meta({ description: 'null where there is none; "changed" for a secret.' }),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.output<typeof auditEntry>;

export const auditAnswer = z.object({
  entries: z.array(auditEntry),
  names: z.record(z.string(), z.string()).meta({
    description: "What the ids in the entries are called; one that is gone is left out.",
  }),
  next: z.string().nullable(),
});
export type AuditAnswer = z.output<typeof auditAnswer>;

export const auditQuery = z.strictObject({
  before: queryInteger(0).optional().describe("`next` of the page before."),
  limit: queryLimit(500, 100),
  account: text(326).optional().meta({ description: "Who did it: an id, or an `email:` form." }),
  target: text(300).optional().meta({
    description: "A kind, or a kind and an id or name: rule, rule:7, rule:errors.",
  }),
  verb: text(64).optional().describe("What was done, as entries name it in `verb`."),
  since: queryInteger(0).optional().meta({ description: "Unix seconds: entries from then on." }),
  until: queryInteger(0).optional().meta({ description: "Unix seconds: entries before then." }),
});

/** account null: only entries without one. The operator's commands on the machine are among them. */
export type AuditFilter = Omit<z.output<typeof auditQuery>, "account"> & {
  account?: string | null | undefined;
};

/** Entries that one page reads. Where few match the page is short, and `next` leads on. */
export const LOOKED_AT = 20_000;

interface Row {
  id: number;
  at: number;
  account_id: string | null;
  email: string | null;
  via: AuditEntry["via"];
  hint: string;
  address: string;
  verb: string;
  kind: string;
  target_id: string;
  target_name: string;
  project: string | null;
  changes: string;
}

/** A page of the audit, newest first. `next` is the id to continue with; null at the end. */
export function listAudit(reader: Reader, filter: AuditFilter) {
  const before = filter.before ?? newestId(reader) + 1;
  const from = Math.max(0, before - LOOKED_AT);
  const terms: [string, SqlValue][] = [
    ["a.id < ?", before],
    ["a.id >= ?", from],
  ];
  if (filter.account !== undefined) terms.push(["a.account_id IS ?", filter.account]);
  if (filter.verb !== undefined) terms.push(["a.verb = ?", filter.verb]);
  if (filter.since !== undefined) terms.push(["a.at >= ?", filter.since]);
  if (filter.until !== undefined) terms.push(["a.at < ?", filter.until]);
  const [kind = "", ...rest] = filter.target?.split(":") ?? [];
  if (kind !== "") terms.push(["a.kind = ?", kind]);
  if (rest.length > 0) terms.push(["? IN (a.target_id, a.target_name)", rest.join(":")]);
  const rows = reader
    .sql<SqlValue[], Row>(
      `SELECT a.*, (SELECT email FROM accounts WHERE id = a.account_id) AS email FROM audit a
        WHERE ${terms.map(([term]) => term).join(" AND ")} ORDER BY a.id DESC LIMIT ?`,
    )
    .all(...terms.map(([, value]) => value), filter.limit + 1);
  const shown = rows.slice(0, filter.limit);
  const next = rows.length > filter.limit ? (shown.at(-1)?.id ?? 0) : from;
  return { entries: shown.map(toEntry), next: next > 1 ? String(next) : null };
}

/** The names of all operations among the newest entries. */
export function auditVerbs(reader: Reader): string[] {
  return reader
    .sql<[after: number], string>("SELECT DISTINCT verb FROM audit WHERE id > ? ORDER BY verb")
    .pluck()
    .all(newestId(reader) - LOOKED_AT);
}

const PIECE = 500;

/** All entries that match, newest first, one JSON object a line. Other requests are served in between. */
export async function* auditLines(
  reader: Reader,
  filter: Omit<AuditFilter, "limit">,
): AsyncGenerator<string> {
  for (let before = filter.before; ; ) {
    const { entries, next } = listAudit(reader, { ...filter, before, limit: PIECE });
    if (entries.length > 0) yield entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
    if (next === null) return;
    before = Number(next);
  }
}

export function newestId(reader: Reader): number {
  return reader.sql<[], number | null>("SELECT max(id) FROM audit").pluck().get() ?? 0;
}

function toEntry(row: Row): AuditEntry {
  const { id, target_id, target_name, kind, project, changes, ...who } = row;
  return {
    id: String(id),
    at: who.at,
    account_id: who.account_id,
    email: who.email,
    via: who.via,
    hint: who.hint,
    address: who.address,
    verb: who.verb,
    target: { kind, id: target_id, name: target_name, project },
    changes: JSON.parse(changes) as AuditEntry["changes"],
  };
}

/** Unix seconds at which the oldest stored entry was written; null where there is none. */
export function oldestEntry(reader: Reader): number | null {
  const oldest = reader.sql<[], number>("SELECT at FROM audit ORDER BY id LIMIT 1").pluck().get();
  return oldest ?? null;
}

/** Deletes at most `most` entries that are older than `before` (Unix seconds). Returns whether there may be more. */
export function sweepAudit(tx: Tx, { before, most }: { before: number; most: number }): boolean {
  const { changes } = tx
    .sql<[most: number, before: number]>(
      "DELETE FROM audit WHERE id IN (SELECT id FROM audit ORDER BY id LIMIT ?) AND at < ?",
    )
    .run(most, before);
  return changes === most;
}
