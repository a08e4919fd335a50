import { isTimezone } from "../../core/oncall/zone.ts";

/** How somebody wants their pages, from their browser's cookies. */
export type DisplaySettings = ReturnType<typeof lookOf>;

const THEMES = ["system", "light", "dark"] as const;
const ROWS = ["comfortable", "compact"] as const;

/** The machine's; to ask for it costs more than all else here. */
const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** One out of what a cookie says; anything else is as usual. */
export function lookOf(cookies: Readonly<Record<string, string>>) {
  const zone = cookies["zone"] ?? "";
  const timeline: "newest" | "oldest" = cookies["timeline"] === "oldest" ? "oldest" : "newest";
  return {
    /** IANA name: whose clock times are shown. */
    zone: zone === "" || !isTimezone(zone) ? OWN_ZONE : zone,
    theme: THEMES.find((theme) => theme === cookies["theme"]) ?? "system",
    rows: ROWS.find((rows) => rows === cookies["rows"]) ?? "comfortable",
    /** Which end of an alert's history comes first. */
    timeline,
    /** Whether single letters are keys. */
    keys: cookies["keys"] !== "off",
    /** Whether the window has room for a list and what is chosen in it, one beside the other. */
    isWide: cookies["panes"] === "2",
  };
}
