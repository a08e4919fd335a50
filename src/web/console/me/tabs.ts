import type { Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { tabs } from "../ui/pieces.ts";

/** What one's own pages are. */
export function meTabs({ base }: PageCall, here: string): Markup {
  const pages = [
    ["Me", "/me"],
    ["What rings for me", "/me/devices"],
    ["Sessions and keys", "/me/sessions"],
    ["Passkeys", "/me/passkeys"],
    ["Sign in on my phone", "/me/phone"],
  ] as const;
  return tabs(
    "My pages",
    pages.map(([name, path]) => ({ name, href: base + path, here: path === here })),
  );
}
