import type { Sealer } from "../kit/sealer.ts";
import { othersFirst } from "../kit/slices.ts";
import type { Reader, Store, Tx } from "./store.ts";

/** Every column that holds sealed values (contract §2, Ids, tokens, secrets). */
const places = [
  { table: "integrations", column: "sealed" },
  { table: "actions", column: "sealed_headers" },
  { table: "actions", column: "sealed_body" },
  { table: "relay", column: "sealed_secret" },
  { table: "gateways", column: "sealed" },
  { table: "sources", column: "sealed_secret" },
  { table: "contacts", column: "sealed" },
  { table: "sign_in_providers", column: "sealed_secret" },
  { table: "away", column: "sealed_ical" },
] as const;

type Place = (typeof places)[number];

/** The place for which a value is sealed. It can't be opened for another row or column. */
export function sealPlace<T extends Place["table"]>(
  table: T,
  column: Extract<Place, { table: T }>["column"],
  id: string | number,
): string {
  return placeOf({ table, column } as Place, id);
}

function placeOf({ table, column }: Place, id: string | number): string {
  return `${table}.${column}.${id}`;
}

/** The ids of the keys that stored values need. */
export function sealedKeyIds(reader: Reader): string[] {
  const ids = places.flatMap(({ table, column }) =>
    reader
      .sql<[], string>(
        `SELECT DISTINCT substr(${column}, 4, 16) FROM ${table} WHERE ${column} IS NOT NULL`,
      )
      .pluck()
      .all(),
  );
  return [...new Set(ids)];
}

/** A row with a value that can't be opened because its key is lost. */
export interface Unreadable {
  table: Place["table"];
  id: string;
}

/** The rows whose credentials must be entered again unless their key is restored. */
export function unreadableRows(reader: Reader, sealer: Sealer): Unreadable[] {
  const rows = places.flatMap((place) =>
    valuesAfter(reader, place, { after: "", limit: -1 })
      .filter(({ sealed }) => !sealer.holds(sealed))
      .map(({ id }) => ({ table: place.table, id })),
  );
  return rows.filter(
    (row, i) => rows.findIndex(({ table, id }) => table === row.table && id === row.id) === i,
  );
}

const SLICE = 50;

/**
 * Seals all values again that aren't sealed with the present key, some in each transaction and turn. It can be
 * interrupted: each value names the key it needs. `unreadable` counts values that can't be opened.
 */
export async function resealAll(
  store: Store,
  sealer: Sealer,
): Promise<{ resealed: number; unreadable: number }> {
  const counts = { resealed: 0, unreadable: 0 };
  for (const place of places) {
    for (let after: string | null = ""; after !== null; ) {
      const from: string = after;
      after = store.write((tx) => resealSlice(tx, { place, after: from, sealer, counts }));
      await othersFirst();
    }
  }
  return counts;
}

/** Returns the last id it has read; null at the end. */
function resealSlice(
  tx: Tx,
  slice: {
    place: Place;
    after: string;
    sealer: Sealer;
    counts: { resealed: number; unreadable: number };
  },
): string | null {
  const { place, after, sealer, counts } = slice;
  const rows = valuesAfter(tx, place, { after, limit: SLICE });
  for (const { id, sealed } of rows) {
    if (sealer.isPresent(sealed)) continue;
    const text = sealer.open(sealed, placeOf(place, id));
    if (text === null) {
      counts.unreadable++;
      continue;
    }
    tx.sql<[string, string, string]>(
      `UPDATE ${place.table} SET ${place.column} = ? WHERE id = ? AND ${place.column} = ?`,
    ).run(sealer.seal(text, placeOf(place, id)), id, sealed);
    counts.resealed++;
  }
  return rows.length < SLICE ? null : (rows.at(-1)?.id ?? null);
}

function valuesAfter(
  reader: Reader,
  { table, column }: Place,
  page: { after: string; limit: number },
): { id: string; sealed: string }[] {
  return reader
    .sql<[after: string, limit: number], { id: string; sealed: string }>(
      `SELECT CAST(id AS TEXT) AS id, ${column} AS sealed FROM ${table}
       WHERE ${column} IS NOT NULL AND CAST(id AS TEXT) > ? ORDER BY 1 LIMIT ?`,
    )
    .all(page.after, page.limit);
}
