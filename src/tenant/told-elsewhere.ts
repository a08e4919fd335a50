import * as z from "zod";
import { meetsAll } from "../core/alerts/sweep.ts";
import { getMeta, setMeta } from "../ground/store/meta.ts";
import { notTaken } from "../ground/store/record/standing.ts";
import type { Reader, Tx } from "../ground/store/store.ts";
import type { ToldEvent } from "../in/ingest/handle.ts";
import { type Deed, deed, repeatDeed } from "./deeds.ts";
import type { Tenant } from "./tenant.ts";

const line = z.union([
  z.object({ deed }),
  z.object({
    source: z.int(),
    event: z.custom<ToldEvent["event"]>((event) => typeof Object(event).message === "string"),
  }),
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

/** How far files of other machines are taken, the latest last. A machine hands over one file at a time. */
const marks = z.array(z.tuple([z.string(), z.int()]));
const MOST_MARKS = 100;

const marksIn = (reader: Reader): z.output<typeof marks> =>
  marks.parse(JSON.parse(String(getMeta(reader, "handed") ?? "[]")));

function setMark(tx: Tx, id: string, n: number): void {
  const others = marksIn(tx).filter(([other]) => other !== id);
  setMeta(tx, "handed", JSON.stringify([...others, [id, n]].slice(-MOST_MARKS)));
}

function read(what: string): Line | null {
  try {
    return asTold(line.parse(JSON.parse(what)));
  } catch {
    return null;
  }
}

/**
 * Takes what another machine confirmed while its disk alone had it: events as ordinary ones of their sources, and then what
 * people did, in that order, each once. `rows`: of one machine, by their numbers. `setAside` keeps rows that this program
 * can't take, for another one: no other row waits for them.
 */
export async function takeToldRows(
  { store, ingest }: Pick<Tenant, "store" | "ingest">,
  rows: readonly ToldRow[],
  setAside: (numbers: readonly number[]) => Promise<void>,
): Promise<{ events: number; deeds: number; unread: number }> {
  const counts = { events: 0, deeds: 0, unread: 0 };
  const id = rows[0]?.id ?? "";
  const last = marksIn(store).find(([of]) => of === id)?.[1] ?? 0;
  const fresh = notTaken(rows, last).map(({ n, what }) => ({ n, said: read(what) }));
  const before = store.sql<[], number | null>("SELECT max(id) FROM timeline").pluck().get() ?? 0;
  const aside = async (numbers: readonly number[]) => {
    await setAside(numbers);
    counts.unread += numbers.length;
  };
  const unread = fresh.flatMap(({ n, said }) => (said === null ? [n] : []));
  if (unread.length > 0) await aside(unread);
  const left = fresh.flatMap(({ n, said }) => (said === null ? [] : [{ n, ...said }]));
  let most = left.length;
  /** Takes the first ones; how many. */
  const take = (): number => {
    const [next] = left as [(typeof left)[number]];
    if ("deed" in next) {
      store.write((tx) => {
        repeatDeed(tx, next.deed satisfies Deed, before);
        setMark(tx, id, next.n);
      });
      counts.deeds++;
      return 1;
    }
    const end = left.findIndex((one) => "deed" in one);
    const events = left.slice(0, Math.min(most, end < 0 ? most : end)) as (ToldEvent & {
      n: number;
    })[];
    const taken = ingest.takeOver(events, (tx, n) => setMark(tx, id, events[n - 1]?.n ?? 0));
    counts.events += taken;
    return taken;
  };
  while (left.length > 0) {
    try {
      left.splice(0, take());
    } catch (error) {
      if (meetsAll(error) || !store.db.open) throw error;
      // One by one it is seen which it was.
      if (most > 1 && !("deed" in (left[0] ?? {}))) most = 1;
      else await aside([left.shift()?.n ?? 0]);
    }
  }
  // Handed over again, they aren't set aside again.
  const [latest] = fresh.slice(-1);
  if (counts.unread > 0 && latest) store.write((tx) => setMark(tx, id, latest.n));
  return counts;
}
