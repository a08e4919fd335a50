import type { AlertRow } from "../../../core/alerts/alert.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { type NowWords, nowLine } from "../ui/alert-now.ts";
import { listRow } from "../ui/alert-row.ts";
import { dutyLine } from "../ui/duty-line.ts";
import { chip, squareChip } from "../ui/faces.ts";
import { groupRow } from "../ui/group-row.ts";
import { gapRow, rungRow } from "../ui/rung-rows.ts";
import { clockTime, until } from "../ui/times.ts";
import { sampleAlert, sampleFaceOf, sampleFaces, sampleMinutes, sampleReach } from "./samples.ts";

interface Shown {
  row: Partial<AlertRow>;
  mark: Piece;
  words: Markup;
  rings?: NowWords["rings"];
  isFirst?: boolean;
}

/** An alert in each of its states, as a list shows it. */
export function alertCards(call: PageCall): Markup {
  const all = states(call).map((of, at) => {
    const { row, mark, words, rings = null, isFirst = false } = of;
    const now = { mark, words, first: null, after: null, at: null, rings };
    return listRow(call, {
      row: sampleAlert(call, { ...row, id: at + 1 }),
      to: `${call.base}/system/look`,
      isChosen: false,
      now,
      minutes: sampleMinutes,
      apart: undefined,
      isGone: false,
      isFirst,
    });
  });
  const [priya] = sampleFaces(call);
  const duty = { project: "payments", until: call.now + 6 * 3600 + 54 * 60, more: 0 };
  return html`<h2>Alerts</h2>${priya !== undefined && dutyLine(call, { me: priya, ...duty })}${priya !== undefined && dutyLine(call, { me: { ...priya, proof: "never", provedAt: null }, ...duty, more: 2 })}<ol class="rows">${all}${storm(call)}</ol>`;
}

function states(call: PageCall): Shown[] {
  const { now, who } = call;
  const face = sampleFaceOf(sampleFaces(call));
  const [priya, jonas, mei] = ["sample-1", "sample-2", "sample-3"].map(face);
  const soft = (words: Piece) => html`<span class="soft">${words}</span>`;
  const two = (first: Piece, second: Piece) => html`<span>${first}</span> ${soft(second)}`;
  if (priya === undefined || jonas === undefined || mei === undefined) return [];
  const next = html`Jonas in ${until(call, now + 348)}`;
  return [
    {
      row: {},
      mark: chip(priya, { rings: true }),
      words: two(html`<b>Ringing you</b>`, next),
      rings: "me",
      isFirst: true,
    },
    {
      row: { level: 400 },
      mark: chip(priya, { rings: true }),
      words: two(html`<b>Ringing you</b>`, next),
      rings: "me",
    },
    {
      row: { level: 300 },
      mark: chip(mei, { rings: true }),
      words: two(html`Ringing Mei, <b>not seen yet</b>`, html`again in ${until(call, now + 114)}`),
      rings: "others",
    },
    {
      row: { level: 200 },
      mark: squareChip("warn"),
      words: two(html`<b class="crit">Nobody is on call</b>`, "and nobody is next"),
    },
    {
      row: { level: 500, state: "acknowledged", acked_by: who.accountId },
      mark: chip(priya),
      words: two(html`<b>You have it</b>`, html`since ${clockTime(call, now - 60)}`),
    },
    {
      row: { level: 400, state: "acknowledged", acked_by: jonas.id },
      mark: chip(jonas),
      words: two(html`<b>Jonas has it</b>`, html`since ${clockTime(call, now - 8_000)}`),
    },
    {
      row: { level: 300, silenced_by: "sample" },
      mark: squareChip("bell-off"),
      words: two(
        html`<b>Quiet</b> until ${clockTime(call, now + 3600)}`,
        "nobody is notified meanwhile",
      ),
    },
    {
      row: { level: 400, state: "resolved" },
      mark: chip(mei, { dot: false }),
      words: two("Resolved by Mei", "20 min ago"),
    },
  ];
}

/** Many alerts of a rule. */
function storm(call: PageCall): Markup {
  const first = sampleAlert(call, { id: 99, rule: "infra" });
  const kind = (last_message: string) =>
    sampleAlert(call, { last_message, template: last_message });
  const facts = {
    first,
    project: "infra",
    rule: "host down",
    count: 150,
    levels: [
      [500, 37],
      [400, 80],
      [300, 33],
    ] satisfies [number, number][],
    states: { open: 142, acknowledged: 8, silenced: 0 },
    since: call.now - 1200,
    newest: 150,
    accounts: ["sample-3"],
    kinds: [
      { row: kind("host db-1.fra is unreachable"), count: 100 },
      { row: kind("/var on web-3 is 91 % full"), count: 49 },
      { row: kind("switch s2 lost its uplink"), count: 1 },
    ],
  };
  return groupRow(call, facts, { shared: { dc: "fra" }, nameOf: () => "Mei Tanaka" });
}

/** What stands below an alert's title, and who is told by what in which order. */
export function ladder(call: PageCall): Markup {
  const { now } = call;
  const faces = sampleFaceOf(sampleFaces(call));
  const row = sampleAlert(call, {});
  const shown = { row, nameOf: (account: string) => faces(account).name };
  const rung = (step: number, at: number) => ({
    at,
    step,
    accounts: [],
    schedules: [],
    why: "step" as const,
  });
  const of = (
    account: string,
    reach: Parameters<typeof sampleReach>[0] | null,
    ahead: number[],
  ) => ({
    id: `look-${account}-${ahead[0] ?? reach?.reason}`,
    name: faces(account).name,
    account,
    entries: reach === null ? [] : [sampleReach({ ...reach, account_id: account })],
    ahead: ahead.map((at, step) => rung(step + 2, at)),
  });
  const people = [
    of("sample-1", { reason: "shown", at: now - 239, after: 1 }, []),
    of("sample-6", { reason: "accepted_not_confirmed", at: now - 200 }, []),
    of("sample-7", { reason: "failed", error: "answered 503", attempts: 3 }, []),
    of("sample-2", null, [now + 348]),
    of("sample-4", { reason: "no_channel", via: null, address: null }, []),
  ];
  const next = people[3]?.ahead[0];
  const channel = {
    id: "look-channel",
    name: "incidents",
    account: null,
    ahead: [],
    entries: [
      sampleReach({
        reason: "delivered",
        integration_id: "sample",
        via: "slack",
        address: "#incidents",
        at: now - 239,
      }),
    ],
  };
  const priya = chip(faces("sample-1"), { rings: true });
  return html`<h2>Now and next</h2>${nowLine({ mark: priya, first: html`<b>Ringing you</b>`, after: html`then Jonas Weber at ${clockTime(call, now + 348)}` }, html`<b class="now-left">${until(call, now + 348)}</b>`)}
<h2>Ladder</h2><ol class="rail">${[...people, channel].map((one) => rungRow(call, shown, one, { faces, next }))}${gapRow(call, rung(4, now + 2100))}</ol>`;
}
