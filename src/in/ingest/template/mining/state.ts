/** The content of a row's `state`. */
interface RowState {
  /** The version of the masking rules for this row. */
  rules: number;
  /** The shape's place in the order of first sight. */
  order: number;
  /** A generalised root's words, with a mark in the variable places; empty for any other row. */
  pattern: string;
}

export function writeState(state: RowState): string {
  const { rules, order, pattern } = state;
  return JSON.stringify(
    pattern === "" ? { r: rules, n: order } : { r: rules, n: order, p: pattern },
  );
}

/** Parses a state; an invalid one counts as older than all rules. */
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
