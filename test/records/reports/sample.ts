import { renderMarkdown } from "../../../src/records/reports/render.ts";
import type { PublicEntry, PublicReport } from "../../../src/records/reports/report.ts";

/** 21 Nov 2026, 03:10 UTC. */
export const NOW = Date.UTC(2026, 10, 21, 3, 10) / 1000;
export const UUID = "8f14e45f-ceea-467f-a9a5-3c1f2b7d9e10";

const MINUTE = 60;

export function entry(changes: Partial<PublicEntry> = {}): PublicEntry {
  return {
    id: "00112233aabbccdd",
    title: "",
    type: "update",
    contentHtml: "<p>x</p>",
    createdAt: NOW - 12 * MINUTE,
    ...changes,
  };
}

export function report(changes: Partial<PublicReport> = {}): PublicReport {
  return {
    uuid: UUID,
    title: "Payments are slow",
    description: "",
    createdAt: NOW - 70 * MINUTE,
    updatedAt: NOW - 12 * MINUTE,
    entries: [],
    ...changes,
  };
}

const DETECTED = `Our monitoring saw card payments answer slowly since **02:00 UTC**. About one in
ten attempts takes longer than thirty seconds, and some of those fail.

- Orders that were placed are **safe**; nothing is charged twice.
- Bank transfers and refunds are not affected.

If a payment failed, waiting a few minutes and trying again works for most.`;

const ANALYSIS = `The slow answers come from one database, \`ledger-3\`, whose disk is failing.
We are moving its work to a healthy one.

| Step | State |
|:-----|------:|
| Copy of the ledger checked | done |
| Traffic moved to \`ledger-4\` | under way |
| Queue of late payments worked off | next |

> We expect payments to be back to their usual speed **by 03:30 UTC**.

More on [how we store payments](https://example.com/engineering/ledger).`;

const RESOLUTION = `All payments run at their usual speed since 03:02 UTC. Late ones have been worked
off, and nobody has to do anything.

\`\`\`
02:00  ledger-3 slows down
02:47  work moved to ledger-4
03:02  queue empty
\`\`\`

We will publish what we learned here within three days.`;

/** An incident as one would write it: what pages are looked at and measured with. */
export function usualReport(resolved: boolean): PublicReport {
  const entries = [
    entry({
      id: "0000000000000001",
      title: "We are looking into slow payments",
      contentHtml: renderMarkdown(DETECTED),
      createdAt: NOW - 58 * MINUTE,
    }),
    entry({
      id: "0000000000000002",
      title: "A failing disk is the cause",
      type: "analysis",
      contentHtml: renderMarkdown(ANALYSIS),
      createdAt: NOW - 23 * MINUTE,
    }),
    entry({
      id: "0000000000000003",
      type: "resolution",
      contentHtml: renderMarkdown(RESOLUTION),
      createdAt: NOW - 4 * MINUTE,
    }),
  ].slice(0, resolved ? 3 : 2);
  return report({
    title: "Card payments are slow, some fail",
    description:
      "Since 02:00 UTC card payments in Europe take longer than usual, and some fail.\nNo data is lost.\n\nPayments by bank transfer work as always.",
    updatedAt: resolved ? NOW - 4 * MINUTE : NOW - 23 * MINUTE,
    entries,
  });
}
