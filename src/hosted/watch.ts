import { type PageDeps, pushPage } from "./page.ts";
import type { Notice } from "./push.ts";
import type { OwedPage } from "./registry/heartbeats.ts";

/** How often to look. Silence counts only between looks. */
export const LOOK_EVERY_SECONDS = 15;
const GAP_SECONDS = 120;
const MOST_AT_ONCE = 1_000;
/** How long a page that can't be sent is tried. A box's silence continues, and its people have no other sign of it. */
const NEWS_SECONDS: Record<OwedPage["news"], number> = {
  silent: 86_400,
  back: 3_600,
  twin: 86_400,
};

/**
 * Looks for silent boxes and pages their people, once; and once when a box is back (contract §7). A page that could not
 * be sent is tried again at the next look. Returns the look's result, and the pages sent.
 */
export async function checkSilence(deps: PageDeps) {
  const { heartbeats } = deps.registry;
  const look = await heartbeats.look(GAP_SECONDS);
  const owed = await heartbeats.owed(MOST_AT_ONCE);
  const sent = await Promise.all(owed.map((page) => pay(deps, page, look.at)));
  return { look, told: owed.filter((_, index) => sent[index]) };
}

/** Whether the page was sent; true where nobody is paired. */
async function pay(deps: PageDeps, page: OwedPage, now: number): Promise<boolean> {
  const { tenantId } = page;
  const result = await pushPage(deps, {
    key: { tenantId, alertId: "", event: `box.${page.news}`, timestamp: page.at },
    relayKeyId: null,
    audience: { tenantId, through: "pairings", only: null },
    notice: noticeOfSilence(page),
    subject: "box",
  });
  const isSent = result.kind === "paged";
  if (isSent || now - page.at > NEWS_SECONDS[page.news]) await deps.registry.heartbeats.paid(page);
  return isSent;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}

function noticeOfTwin({ tenantId }: OwedPage, who: string): Notice {
  return {
    title: "Two boxes page as one",
    body: `${who} is there twice: both page you. Stop the copy, or give it a relay key of its own.`,
    tail: "",
    critical: false,
    thread: "box",
    fields: { event: "box.twin", tenant_id: tenantId },
  };
}

/** The notification for a box's people. It is critical: a silent box pages nobody. */
function noticeOfSilence(page: OwedPage): Notice {
  const who = hostOf(page.boxUrl ?? "") || `Box of ${page.tenantId}`;
  if (page.news === "twin") return noticeOfTwin(page, who);
  const since = new Date(page.heardAt * 1000).toISOString().slice(0, 16).replace("T", " ");
  const isSilent = page.news === "silent";
  return {
    title: isSilent ? "Box is silent" : "Box is back",
    body: isSilent
      ? `${who} has sent no report since ${since} UTC: its alerts may not reach you.`
      : `${who} reports again.`,
    tail: "",
    critical: isSilent,
    thread: "box",
    fields: { event: `box.${page.news}`, tenant_id: page.tenantId },
  };
}
