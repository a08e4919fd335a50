/*
 * Texts that weren't sent, kept in this browser: they outlast a crash, a session and signing out. Only whoever wrote one is
 * shown it; it isn't encrypted.
 */
export interface Draft {
  title: string;
  type: string;
  text: string;
  /** What was seen when it was begun. */
  seen: string;
  /** Unix milliseconds. */
  at: number;
}

const { dataset } = document.documentElement;
const OWN = `draft ${dataset["base"] ?? ""} ${dataset["who"] ?? ""} `;
const MONTH_MS = 30 * 86_400_000;

/** Where storing is switched off, or full, nothing is kept; the page says only what is. */
export function keepDraft(name: string, draft: Draft): boolean {
  try {
    localStorage.setItem(OWN + name, JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

export function dropDraft(name: string): void {
  try {
    localStorage.removeItem(OWN + name);
  } catch {
    // There was none.
  }
}

export function readDraft(name: string): Draft | null {
  try {
    const kept = JSON.parse(localStorage.getItem(OWN + name) ?? "null") as Draft | null;
    return typeof kept?.text === "string" ? kept : null;
  } catch {
    return null;
  }
}

/** The names of this person's; those of a month ago go. */
export function ownDrafts(): string[] {
  try {
    const names = Object.keys(localStorage)
      .filter((key) => key.startsWith(OWN))
      .map((key) => key.slice(OWN.length));
    return names.filter((name) => {
      const isOld = Date.now() - (readDraft(name)?.at ?? 0) > MONTH_MS;
      if (isOld) dropDraft(name);
      return !isOld;
    });
  } catch {
    return [];
  }
}
