/** The result of one check of the doctor. */
export interface Finding {
  check: string;
  /** A note is no fault. */
  state: "ok" | "note" | "wrong";
  detail: string;
  /** What to do about it; "" for nothing. */
  advice: string;
}

export function ok(check: string, detail: string): Finding {
  return { check, state: "ok", detail, advice: "" };
}

export function note(check: string, detail: string, advice = ""): Finding {
  return { check, state: "note", detail, advice };
}

export function wrong(check: string, detail: string, advice: string): Finding {
  return { check, state: "wrong", detail, advice };
}
