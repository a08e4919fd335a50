import type { Alert } from "../src/core/alerts/alert.ts";
import type { AlertDetail } from "../src/core/alerts/detail.ts";
import type { GroupAnswer } from "../src/core/alerts/group-facts.ts";
import { labelTexts } from "../src/core/alerts/labels.ts";
import { levelName } from "../src/ground/kit/level.ts";
import type { LinesAround } from "../src/in/ingest/lines-around.ts";
import { api, queried, v1 } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { type GivenBy, print } from "./options.ts";
import { age, printable, short, table, when } from "./table.ts";

/** What `box alert show` and `box alert lines` print beside an alert's fields. */

const BARS = "▁▂▃▄▅▆▇█";
/** The latest periods that are shown. */
const MOST_SHARED = 3;
const SHOWN = 60;

/** How often the alert's events came, its ladder's next step, and its earlier occurrences. `nameOf` names accounts. */
export function aheadText(
  { alert, buckets, next, earlier, silence, now }: AlertDetail,
  nameOf: (id: string) => string,
): string {
  const people = (accounts: readonly string[]) => accounts.map(nameOf).join(", ") || "nobody";
  const rungs = next.slice(0, 5).map(({ at, step, why, accounts }) => {
    const what = why === "renotify" ? "notified again" : `rung ${step}`;
    return `${when(at)}, ${what}: ${people(accounts)}`;
  });
  const before = earlier.map(({ id, opened_at, resolved_at, resolved_by, count }) => {
    const lasted = resolved_at === null ? "" : `, for ${age(opened_at, resolved_at)}`;
    const by = resolved_by === null ? "" : `, resolved by ${nameOf(resolved_by)}`;
    return `#${id} ${age(opened_at, now)} ago${lasted}, ${count} events${by}`;
  });
  const ahead = alert.state === "open" ? "nothing more: the ladder has run" : "nothing";
  const rows: [string, string][] = [
    ["how often", `${bars(buckets.counts)} (${buckets.seconds === 60 ? "minutes" : "hours"})`],
    ...(silence === null ? [] : [["silenced", silence.reason] as [string, string]]),
    ...labelled("next", rungs.length === 0 ? [ahead] : rungs),
    ...labelled("earlier", before.length === 0 ? ["none of this key"] : before),
  ];
  return table([], rows);
}

/** The labels that tell an alert from the others of its rule: `host=db7 zone=a`. */
export function chipsText({ apart }: Alert): string {
  return apart.map(({ name, value }) => `${name}=${value}`).join(" ");
}

/** The first labels that all alerts of a group have: `service=web cluster=eu`. */
export function sharedText({ labels }: GroupAnswer): string {
  return Object.entries(labels ?? {})
    .slice(0, MOST_SHARED)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
}

/** What its sender said beside the message: labels, with the values that varied, details line by line, links. */
export function saidRows(alert: Alert): [string, string][] {
  const { details, links, images } = alert;
  // An alert from before labels were kept has identifiers alone.
  const known = { ...alert, labels: { ...alert.identifiers, ...alert.labels } };
  const labels = labelTexts(known).map(([name, text]) => `${name}: ${text}`);
  const addresses = [
    ...links.map(({ href, text }) => (text === href ? href : `${text}: ${href}`)),
    ...images.map(({ src, alt = "" }) => `${alt || "Image"}: ${src}`),
  ];
  return [
    ...(alert.apart.length > 0 ? labelled("apart", [chipsText(alert)]) : []),
    ...labelled("labels", labels),
    ...labelled("details", details === null ? [] : details.split(/\r?\n/)),
    ...labelled("links", addresses),
  ];
}

function labelled(label: string, lines: readonly string[]): [string, string][] {
  return lines.map((line, i) => [i === 0 ? label : "", line]);
}

function bars(counts: readonly number[]): string {
  const shown = counts.slice(-SHOWN);
  const most = Math.max(1, ...shown);
  const bar = (n: number) => BARS[n === 0 ? 0 : Math.ceil((n / most) * (BARS.length - 1))];
  return shown.map(bar).join("");
}

export const linesFlags = {
  "--minutes <n>": { about: "minutes before and after its opening", usual: "5" },
  "--source <name>": "only of this source",
  "--template <id>": "only of this template",
  "--q <text>": "with this in the message",
  "--limit <n>": { about: "how many", usual: "100" },
};

export async function showLines(id: string, options: GivenBy<typeof linesFlags>): Promise<void> {
  const { source, template, q, limit } = options;
  const within = options.minutes === "5" ? {} : await timeAround(id, options);
  const from = queried(v1("alerts", id, "lines"), { source, template, q, limit, ...within });
  const answer = await api.get<LinesAround>(options, from);
  print(answer, options, () => linesText(answer));
}

/** So many minutes before and after its opening. */
async function timeAround(id: string, options: ApiOptions & { minutes: string }) {
  const { opened_at } = await api.get<{ opened_at: number }>(options, v1("alerts", id));
  const seconds = Math.round(Number(options.minutes) * 60);
  return { after: Math.max(0, opened_at - seconds), before: opened_at + seconds };
}

function linesText({ messages, variables, complete }: LinesAround): string {
  if (messages.length === 0) return "no stored lines about it";
  const lines = messages.map(({ received_at, level, source, message }) =>
    [when(received_at), levelName(level), printable(source), printable(message)].join("  "),
  );
  const varying = variables.map(({ position, values }) => {
    const most = values.slice(0, 5).map(({ value, count }) => `${short(value, 40)} ${count}×`);
    const more = values.length > 5 ? `, and ${values.length - 5} more` : "";
    return printable(`varies (${position}): ${most.join(", ")}${more}`);
  });
  const rest = complete ? [] : ["there are more in this time: --limit, --minutes"];
  return [...lines, ...(varying.length > 0 ? ["", ...varying] : []), ...rest].join("\n");
}
