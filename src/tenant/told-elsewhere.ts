import * as z from "zod";
import { getMeta, setMeta } from "../ground/store/meta.ts";
import { notTaken } from "../ground/store/record/standing.ts";
import type { Tx } from "../ground/store/store.ts";
import type { ToldEvent } from "../in/ingest/handle.ts";
import { type Deed, deed, repeatDeed } from "./deeds.ts";
import type { Tenant } from "./tenant.ts";

const line = z.union([
  z.object({ deed }),
  z.object({ source: z.int(), event: z.custom<ToldEvent["event"]>() }),
]);

type Line = z.output<typeof line>;

/** Each key of an event is only a key. */
const asTold = (said: Line): Line =>
  "deed" in said || said.event.keys === null
    ? said
    : {
        ...said,
        event: { ...said.event, keys: Object.assign(Object.create(null), said.event.keys) },
      };

interface ToldRow {
  id: string;
  n: number;
  what: string;
}

/**
 * Takes what another machine confirmed while its disk alone had it: events as ordinary ones of their sources, and then what
 * people did, in that order, each once. `rows`: of one machine, by their numbers.
 */
export function takeToldRows(
  { store, ingest }: Pick<Tenant, "store" | "ingest">,
  rows: readonly ToldRow[],
): { events: number; deeds: number } {
  const counts = { events: 0, deeds: 0 };
  const key = `handed.${rows[0]?.id ?? ""}` as const;
  const left = notTaken(rows, Number(getMeta(store, key) ?? 0)).map(({ n, what }) => ({
    n,
    ...asTold(line.parse(JSON.parse(what))),
  }));
  const before = store.sql<[], number | null>("SELECT max(id) FROM timeline").pluck().get() ?? 0;
  const isTaken = (tx: Tx, n: number) => setMeta(tx, key, n);
  while (left.length > 0) {
    const next = left[0] as (typeof left)[number];
    if ("deed" in next) {
      store.write((tx) => {
        repeatDeed(tx, next.deed satisfies Deed, before);
        isTaken(tx, next.n);
      });
      counts.deeds++;
      left.shift();
      continue;
    }
    const end = left.findIndex((one) => "deed" in one);
    const events = left.slice(0, end < 0 ? undefined : end) as (ToldEvent & { n: number })[];
    const taken = ingest.takeOver(events, (tx, n) => isTaken(tx, events[n - 1]?.n ?? 0));
    counts.events += taken;
    left.splice(0, taken);
  }
  return counts;
}
