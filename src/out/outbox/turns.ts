/**
 * Whose turn it is among the rows that wait for one endpoint: the levels take turns, highest first, and in
 * each level its rules do. So the next page of a rule waits for one page of each other level and rule, and
 * never for all that piled up before it. Pure: what waits is asked for, and the turns taken are remembered.
 */

/** The rows of one rule at one level. */
export interface Flow {
  /** 0 to 5: see `rankOf`. */
  rank: number;
  /** 0 for events that no alert caused. */
  ruleId: number;
}

/** Who had the last turn, in memory as long as the endpoint has something to send. */
export interface Turns {
  /** Who had rows waiting when it was last looked; null = to be looked anew, for rows may have come. */
  flows: readonly Flow[] | null;
  rank: number;
  /** The last rule of each rank. */
  readonly rules: Map<number, number>;
}

const HIGHEST_RANK = 5;

/** The hundreds of a level: what lies between two names takes its turns with the lower one. */
export function rankOf(level: number): number {
  return Math.max(0, Math.min(HIGHEST_RANK, Math.floor(level / 100)));
}

export function noTurns(): Turns {
  return { flows: null, rank: HIGHEST_RANK + 1, rules: new Map() };
}

/**
 * The next `most` rows of a flow that may go, or all that are left; never one that was given before in the
 * same look.
 */
type ReadFlow<Row> = (flow: Flow, most: number) => Row[];

/** At most `limit` rows, a turn each, of the flows that have rows waiting. */
export function takeTurns<Row>(
  turns: Turns,
  flows: readonly Flow[],
  { limit, read }: { limit: number; read: ReadFlow<Row> },
): Row[] {
  const chunk = Math.ceil(limit / Math.max(1, flows.length));
  const ranks = [...new Set(flows.map(({ rank }) => rank))].sort((a, b) => b - a);
  let lines = afterTurn(ranks, (rank) => rank < turns.rank).map((rank) => {
    const rules = flows.filter((flow) => flow.rank === rank);
    return { rank, rows: rowsOfRank(turns, rules, (flow) => read(flow, chunk)) };
  });
  const taken: Row[] = [];
  while (lines.length > 0) {
    for (const line of lines) {
      const { value, done } = line.rows.next();
      if (done) lines = lines.filter((other) => other !== line);
      else {
        turns.rank = line.rank;
        if (taken.push(value) === limit) return taken;
      }
    }
  }
  return taken;
}

/** The rows of one rank, a rule after the other. */
function* rowsOfRank<Row>(
  turns: Turns,
  flows: readonly Flow[],
  read: (flow: Flow) => Row[],
): Generator<Row, void> {
  const byRule = flows.toSorted((a, b) => a.ruleId - b.ruleId);
  const last = turns.rules.get(byRule[0]?.rank ?? 0) ?? -1;
  let open = afterTurn(byRule, ({ ruleId }) => ruleId > last).map((flow) => {
    return { flow, rows: [] as Row[] };
  });
  while (open.length > 0) {
    for (const one of open) {
      if (one.rows.length === 0) one.rows = read(one.flow);
      const row = one.rows.shift();
      if (row === undefined) open = open.filter((other) => other !== one);
      else {
        turns.rules.set(one.flow.rank, one.flow.ruleId);
        yield row;
      }
    }
  }
}

/** The list begun with what comes after the last turn. */
function afterTurn<T>(list: readonly T[], isNext: (one: T) => boolean): T[] {
  const at = list.findIndex(isNext);
  return at <= 0 ? [...list] : [...list.slice(at), ...list.slice(0, at)];
}
