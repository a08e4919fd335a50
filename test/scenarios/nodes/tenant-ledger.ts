import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import Database from "better-sqlite3";
import type { Client } from "pg";
import { memoryOrTemp } from "../../support/memory.ts";
import { type Excuse, excusedRings, type Known, type Ring } from "./rings.ts";

const PAGE = 4_096;

/** What is known of one tenant outside: nothing of it is asked of the program. */
export class TenantLedger {
  /** Numbers of events that were answered, and when. */
  readonly answered = new Map<string, number>();
  /** The event of each alert id that anybody has seen. */
  readonly #seen = new Map<string, string>();
  readonly rings = new Map<string, Ring[]>();
  /** Alerts whose acknowledgement was answered. */
  readonly acked = new Set<string>();
  /** What was said and wasn't so. */
  readonly faults: string[] = [];

  /** Somebody outside has seen an alert. */
  saw(id: string, n: string, where: string): void {
    const before = this.#seen.get(id) ?? n;
    if (before !== n) this.faults.push(`alert ${id} was event ${before}'s, and in ${where} ${n}'s`);
    this.#seen.set(id, n);
  }

  /** A page came. */
  rang(n: string, id: string, ring: Ring): void {
    this.saw(id, n, "a page");
    this.rings.set(n, [...(this.rings.get(n) ?? []), ring]);
  }

  hasRung(): boolean {
    return [...this.answered.keys()].every((n) => this.rings.has(n));
  }

  /** Throws what isn't as it was answered, seen or paged. How many pages rang once more over a blow. */
  judge(record: Alert[], excuses: readonly Excuse[], known: Known): number {
    assert.deepEqual(this.faults, [], "what was seen is so");
    const numbers = new Set(record.map(({ n }) => n));
    const missing = [...this.answered.keys()].filter((n) => !numbers.has(n));
    assert.deepEqual(missing, [], `of ${this.answered.size} events that were answered`);
    const byId = new Map(record.map((alert) => [alert.id, alert]));
    assert.equal(byId.size, record.length);
    const others = [...this.#seen].filter(([id, n]) => byId.get(id)?.n !== n);
    assert.deepEqual(others, [], "each alert that was seen is in the record");
    const open = [...this.acked].filter((id) => byId.get(id)?.state !== "acknowledged");
    assert.deepEqual(open, [], "what was acknowledged is so");
    assert.ok(this.hasRung(), "each answered event has rung");
    // Whoever stood still may send what it was about to send, after another has.
    return excusedRings(
      this.rings,
      excuses,
      (node, before, ring) => node === before.by || node === ring.by || ring.by === undefined,
      known,
    );
  }
}

export interface Alert {
  id: string;
  n: string;
  state: string;
}

/** What the database holds of a tenant: its pages as a file, which is whole. By no code of the program. */
export async function alertsKept(client: Client, tenant: string): Promise<Alert[]> {
  const directory = mkdtempSync(join(memoryOrTemp(), "box-record-"));
  try {
    const path = join(directory, "box.db");
    writeFileSync(path, await imageOf(client, tenant));
    const db = new Database(path, { readonly: true });
    try {
      assert.deepEqual(db.pragma("integrity_check"), [{ integrity_check: "ok" }]);
      return db
        .prepare("SELECT id, json_extract(identifiers, '$.n') AS n, state FROM alerts")
        .all()
        .map((row) => row as Alert)
        .map(({ id, n, state }) => ({ id: String(id), n: String(n), state }));
    } finally {
      db.close();
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function imageOf(client: Client, tenant: string): Promise<Buffer> {
  const { rows: stores } = await client.query<{ count: number }>(
    "SELECT page_count AS count FROM tenant_stores WHERE tenant_id = $1",
    [tenant],
  );
  const { rows } = await client.query<{ page: number; body: Buffer }>(
    "SELECT page, body FROM tenant_pages WHERE tenant_id = $1 ORDER BY page",
    [tenant],
  );
  assert.deepEqual(
    rows.map(({ page }) => page),
    Array.from({ length: stores[0]?.count ?? 0 }, (_, i) => i + 1),
    "every page is there",
  );
  return Buffer.concat(
    rows.map(({ body }) => (body.length === PAGE ? body : zstdDecompressSync(body))),
  );
}
