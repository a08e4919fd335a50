import { hourAt } from "./clock-words.ts";
import { type DrawnPlace, escapeText } from "./drawn-page.ts";
import { alertOf, type PushTold } from "./told.ts";

/* An alert that was pushed and never opened here, from what the push told. Pure. */

const LEVELS: readonly (readonly [from: number, word: string])[] = [
  [500, "critical"],
  [400, "error"],
  [300, "warn"],
  [200, "info"],
];

const pushedLevel = (level: number): string =>
  LEVELS.find(([from]) => level >= from)?.[1] ?? "debug";

/** "Rung 1 of 2, then Bob at 02:25, if nothing changed." */
export function pushedNext({ data }: PushTold, now: number, zone?: string): string {
  const { step, steps, next } = data;
  const then = next && `${next.who} at ${hourAt(next.at * 1000, now, zone)}, if nothing changed`;
  const at = step > 0 && steps > 0 ? `Rung ${step} of ${steps}` : "";
  const words = [at, then && (at === "" ? `Next: ${then}` : `then ${then}`)].filter(Boolean);
  return words.length === 0 ? "" : `${words.join(", ")}.`;
}

/** The section is live, so that it gives way to the box's own as soon as that answers. */
export function pushedPage(told: PushTold, { base, now, zone }: DrawnPlace) {
  const { data, title, body } = told;
  const id = alertOf(data) ?? "";
  const level = pushedLevel(data.level);
  const [head, what] = [data.called || title, pushedNext(told, now, zone)];
  const pushed = hourAt(data.server_time * 1000, now, zone);
  return {
    title: `#${id} ${head}`.slice(0, 80),
    main: `<section id="head" data-live="alert:${id}">
<p class="crumbs"><a href="${base}/alerts" data-key="Escape">‹ Alerts</a> <span class="badge badge-${level}">${level}</span> <span>${escapeText(data.project ?? "")} / ${escapeText(data.rule ?? "")} · #${id}</span></p>
<h1 class="message" dir="auto">${escapeText(head)}</h1>
<p class="soft">${data.count} × by ${escapeText(pushed)}</p>
<p dir="auto">${escapeText(data.kind === "note" ? title : body)}</p>
${what === "" ? "" : `<p>${escapeText(what)}</p>`}
<p class="soft">This is what the notification told: the alert’s own page was never opened in this browser.</p>
</section>
<div class="act"><section id="actions" data-live="alert:${id}" class="actions">
${data.kind === "note" ? "" : `<form method="post" action="${base}/a/${id}/ack"><button class="button" data-key="a" aria-keyshortcuts="a" title="Acknowledge (a)">Acknowledge</button></form>`}
</section></div>`,
  };
}
