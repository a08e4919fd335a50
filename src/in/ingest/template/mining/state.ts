/** What a row's opaque `state` holds. */
export interface RowState {
  /** The masking rules that shaped the row. */
  rules: number;
  /** The shape's place in the order of first sight. */
  order: number;
  /** The words of a generalised root, with a mark in the places that vary; empty for any other row. */
  pattern: string;
}

export function writeState(state: RowState): string {
  const { rules, order, pattern } = state;
  return JSON.stringify(
    pattern === "" ? { r: rules, n: order } : { r: rules, n: order, p: pattern },
  );
}

/** Reads a state back; one that isn't ours counts as from before any rules. */
export function readState(text: string): RowState {
  try {
    const { r, n, p } = JSON.parse(text) as { r?: unknown; n?: unknown; p?: unknown };
    return {
      rules: typeof r === "number" ? r : 0,
      order: typeof n === "number" && Number.isSafeInteger(n) && n >= 0 ? n : 0,
      pattern: typeof p === "string" ? p : "",
    };
  } catch {
    return { rules: 0, order: 0, pattern: "" };
  }
}
