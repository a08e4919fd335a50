/** One thing that the doctor looked at. */
export interface Finding {
  check: string;
  /** A note is no fault: worth knowing. */
  state: "ok" | "note" | "wrong";
  detail: string;
  /** What to do about it; empty where nothing needs doing. */
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
