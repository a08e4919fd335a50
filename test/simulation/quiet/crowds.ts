import type { Fired } from "./acts.ts";
import type { Ledger } from "./ledger.ts";
import type { Look, Row } from "./looks.ts";

/**
 * The alert that a rule's further keys share, while somebody has it: a key that it never held ends that, now or within five
 * minutes of the time before. What it held comes again without a word, as far as the box can remember it.
 */
export interface Crowds {
  /** Looks at one alert after an act. */
  look(row: Row, look: Look): void;
}

const REST = 300;

export function crowdLaws(ledger: Ledger, fault: (text: string, look: Look) => void): Crowds {
  /** What each of them counted, with the highest level. */
  const held = new Map<number, Map<string, number>>();
  const isCrowd = ({ alert_key }: Row) => alert_key.endsWith(":*");
  const keyOf = ({ host, subject }: Fired) => `${host} ${subject}`;
  return {
    look(row, look) {
      const { id } = row;
      if (!isCrowd(row)) return;
      const counted = held.get(id) ?? new Map<string, number>();
      held.set(id, counted);
      const { ended } = look.did;
      for (const key of counted.keys())
        if (ended !== undefined && key.endsWith(` @${ended}`)) counted.delete(key);
      const fired = firedInto(row, look);
      const was = look.before.get(id);
      const isJoined = look.history.get(id)?.includes("joined") === true;
      if (fired !== null && was?.state === "acknowledged" && row.state === "acknowledged") {
        const level = counted.get(keyOf(fired));
        const isNew = level === undefined || fired.level > level;
        const soon = Math.min(row.wakes_at ?? Infinity, was.wakes_at ?? Infinity);
        if (isNew && soon > look.now + REST) fault(`alert ${id} swallows ${keyOf(fired)}`, look);
        if (isNew && fired.level > was.level && soon > look.now)
          fault(`alert ${id} keeps for later what is worse: ${keyOf(fired)}`, look);
      }
      if (fired !== null)
        counted.set(keyOf(fired), Math.max(fired.level, counted.get(keyOf(fired)) ?? 0));
      // What waited joins in a look of its own, and may end the acknowledgement in the same one.
      if (isJoined)
        ledger.wakes.set(id, row.wakes_at === null ? look.elapsed : row.wakes_at - ledger.jumped);
    },
  };
}

/** What this act sent, where it went into the alert or opened it. */
function firedInto(row: Row, { before, did }: Look): Fired | null {
  const was = before.get(row.id);
  const isCounted = was === undefined || (row.count > was.count && was.rule === row.rule);
  return isCounted && did.fired?.rule === row.rule ? did.fired : null;
}
