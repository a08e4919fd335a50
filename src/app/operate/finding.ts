import type { Examined } from "../../tenant/host.ts";

/** The result of one check of the doctor. */
export type Finding = Examined["findings"][number];

export function ok(check: string, detail: string): Finding {
  return { check, state: "ok", detail, advice: "" };
}

export function note(check: string, detail: string, advice = ""): Finding {
  return { check, state: "note", detail, advice };
}

export function wrong(check: string, detail: string, advice: string): Finding {
  return { check, state: "wrong", detail, advice };
}
