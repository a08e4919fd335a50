import { isTimezone } from "../../core/oncall/zone.ts";

/** How somebody wants their pages, from their browser's cookies. */
export interface DisplaySettings {
  /** IANA name: whose clock times are shown. */
  zone: string;
  theme: "system" | "light" | "dark";
  rows: "comfortable" | "compact";
  /** Which end of an alert's history comes first. */
  timeline: "newest" | "oldest";
  /** Whether single letters are keys. */
  keys: boolean;
  /** Whether the window has room for a list and what is chosen in it, one beside the other. */
  isWide: boolean;
}

const THEMES = ["system", "light", "dark"] as const;
const ROWS = ["comfortable", "compact"] as const;

/** The machine's; to ask for it costs more than all else here. */
const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** One out of what a cookie says; anything else is as usual. */
export function lookOf(cookies: Readonly<Record<string, string>>): DisplaySettings {
  const zone = cookies["zone"] ?? "";
  return {
    zone: zone === "" || !isTimezone(zone) ? OWN_ZONE : zone,
    theme: THEMES.find((theme) => theme === cookies["theme"]) ?? "system",
    rows: ROWS.find((rows) => rows === cookies["rows"]) ?? "comfortable",
    timeline: cookies["timeline"] === "oldest" ? "oldest" : "newest",
    keys: cookies["keys"] !== "off",
    isWide: cookies["panes"] === "2",
  };
}
