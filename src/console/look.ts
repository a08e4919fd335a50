import { isTimezone } from "../oncall/zone.ts";

/** How somebody wants their pages, from their browser's cookies. */
export interface PageLook {
  /** IANA name: whose clock times are shown. */
  zone: string;
  theme: "system" | "light" | "dark";
  rows: "comfortable" | "compact";
  /** Whether single letters are keys. */
  keys: boolean;
}

const THEMES = ["system", "light", "dark"] as const;
const ROWS = ["comfortable", "compact"] as const;

/** One out of what a cookie says; anything else is as usual. */
export function lookOf(cookies: Readonly<Record<string, string>>): PageLook {
  const zone = cookies["zone"] ?? "";
  return {
    zone: isTimezone(zone) ? zone : Intl.DateTimeFormat().resolvedOptions().timeZone,
    theme: THEMES.find((theme) => theme === cookies["theme"]) ?? "system",
    rows: ROWS.find((rows) => rows === cookies["rows"]) ?? "comfortable",
    keys: cookies["keys"] !== "off",
  };
}
