/** One at a time: resolves with what ends the turn. */
export type InTurn = (owner: string) => Promise<() => void>;

/** Whoever waits for one thing gets it in turn, owners one after the other: who asks often waits behind their own. */
export function createInTurn(): InTurn {
  /** The owner whose turn is next stands first. */
  const waiting = new Map<string, (() => void)[]>();
  let isTaken = false;

  const next = () => {
    const [first] = waiting;
    isTaken = first !== undefined;
    if (first === undefined) return;
    const [owner, [start, ...later]] = first;
    waiting.delete(owner);
    if (later.length > 0) waiting.set(owner, later);
    start?.();
  };

  return (owner) =>
    new Promise((resolve) => {
      const start = () => {
        let isOver = false;
        resolve(() => {
          if (!isOver) next();
          isOver = true;
        });
      };
      waiting.set(owner, [...(waiting.get(owner) ?? []), start]);
      if (!isTaken) next();
    });
}
