/** Waits for the owner's turn. Resolves with the function that ends the turn. */
type InTurn = (owner: string) => Promise<() => void>;

/** A queue for one thing. Owners take turns, so an owner with many requests doesn't delay the others. */
export function createInTurn(): InTurn {
  /** By owner. The owner who is next stands first. */
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
