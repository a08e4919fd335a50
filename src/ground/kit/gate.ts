/** What has to have happened before something may be told. null: it has. Rejects where it never will. */
export type DurableGate = () => Promise<void> | null;

/**
 * Does things in the order in which they come, each once the gate has let it through. `refused` is called for each that
 * it never lets through.
 */
export function inOrder(gate: DurableGate, refused: () => void): (act: () => void) => void {
  let latest: Promise<void> | null = null;
  return (act) => {
    const own = gate();
    if (own === null && latest === null) return act();
    const turn: Promise<void> = Promise.all([own, latest])
      .then(act, refused)
      .finally(() => {
        if (latest === turn) latest = null;
      });
    latest = turn;
  };
}
