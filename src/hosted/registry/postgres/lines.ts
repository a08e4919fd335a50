import type { Clock } from "../../../ground/kit/clock.ts";
import { DatabaseAway } from "./database-faults.ts";
import type { DatabaseLine } from "./line.ts";

/** A pool of connections, which are opened when needed. */
export type Lines = ReturnType<typeof createLines>;

interface Waiting {
  give(line: DatabaseLine | null): void;
  fail(error: DatabaseAway): void;
}

/** At most `size` connections; callers are served in order. */
export function createLines({
  clock,
  size,
  open,
}: {
  clock: Clock;
  size: number;
  open(ms: number): Promise<DatabaseLine>;
}) {
  const idle: DatabaseLine[] = [];
  const all = new Set<DatabaseLine>();
  const waiting: Waiting[] = [];
  let places = size;
  let ended = false;

  /** Passes a free place to the next caller, so that no more connections open. */
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) places++;
    else next.give(null);
  };

  const wait = (ms: number) =>
    new Promise<DatabaseLine | null>((resolve, reject) => {
      const me: Waiting = {
        give(line) {
          cancel();
          resolve(line);
        },
        fail(error) {
          cancel();
          reject(error);
        },
      };
      const cancel = clock.after(Math.max(0, ms), () => {
        waiting.splice(waiting.indexOf(me), 1);
        reject(new DatabaseAway("every connection to the database is in use"));
      });
      waiting.push(me);
    });

  const opened = async (ms: number): Promise<DatabaseLine> => {
    try {
      const line = await open(ms);
      if (ended) line.drop();
      if (ended) throw closed();
      all.add(line);
      return line;
    } catch (error) {
      leave();
      throw error;
    }
  };

  return {
    /** A connection for this caller alone until `put`, within `ms`. Rejects with DatabaseAway. */
    async take(ms: number): Promise<DatabaseLine> {
      if (ended) throw closed();
      const until = clock.mono() + ms;
      for (let line = idle.pop(); line !== undefined; line = idle.pop()) {
        if (isGood(line, clock)) return line;
        discard(all, line);
        places++;
      }
      if (places > 0) places--;
      else {
        const given = await wait(ms);
        if (given !== null) return given;
      }
      return opened(until - clock.mono());
    },
    put(line: DatabaseLine) {
      if (ended || !isGood(line, clock)) {
        discard(all, line);
        leave();
        return;
      }
      const next = waiting.shift();
      if (next === undefined) idle.push(line);
      else next.give(line);
    },
    /** Ends the idle connections, so that the next callers get new ones. */
    refresh() {
      for (const line of idle.splice(0)) {
        discard(all, line);
        leave();
      }
    },
    /** Connections in use, and callers that wait for one. */
    inUse: () => ({ busy: size - places - idle.length, waiting: waiting.length }),
    /** Ends all of them; waiting callers get an error. */
    end() {
      ended = true;
      for (const line of idle) line.hangUp();
      for (const line of all) if (!idle.includes(line)) line.drop();
      for (const one of waiting.splice(0)) one.fail(closed());
    },
  };
}

const closed = () => new DatabaseAway("the connections were closed");

const isGood = (line: DatabaseLine, clock: Clock) => !line.isBroken() && clock.mono() < line.oldAt;

function discard(all: Set<DatabaseLine>, line: DatabaseLine): void {
  all.delete(line);
  line.hangUp();
}
