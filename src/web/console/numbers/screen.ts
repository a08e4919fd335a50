import { html, type Markup } from "../../../ground/kit/html.ts";
import { numbersCsv } from "../../../records/numbers/csv.ts";
import { daysBefore, lookTotal, numbersOf } from "../../../records/numbers/numbers.ts";
import { type NumbersAnswer, type NumbersBy, numbersBy } from "../../../records/numbers/shape.ts";
import type { PageCall, PageFile, Screen } from "../screen.ts";
import { heat } from "../ui/heat.ts";
import { empty } from "../ui/pieces.ts";
import { asked } from "../ui/schedule.ts";
import { tiles } from "../ui/tiles.ts";
import { adviceSection, hideForm } from "./advice.ts";
import { digestForm, digestSection, digestSendForm } from "./digest.ts";
import { peopleTable, rulesTable, weeksTable } from "./parts.ts";
import { settingsForm, settingsSection } from "./settings.ts";

/** Who pays for the noise: pages a person, at night, time to take it, the noisiest rules, when it rang. */

const SPANS = [1, 4, 8, 26, 104];
const USUAL = 4;
const WEEK = 7 * 86_400;

const weeksOf = ({ query }: PageCall): number => {
  const weeks = Number(query.get("weeks") ?? USUAL);
  return SPANS.includes(weeks) ? weeks : USUAL;
};

/** Days that end today; with `before` as many that ended where these begin. */
function rangeOf(call: PageCall, before = 0) {
  const weeks = weeksOf(call);
  const to = call.now + 1 - before * weeks * WEEK;
  return { from: daysBefore(call.tenant.store, to, weeks * 7 - 1), to, project: null };
}

const ask = (call: PageCall, by: NumbersBy): Promise<NumbersAnswer> =>
  numbersOf(asked(call), { by, ...rangeOf(call) }, { now: call.now, viewer: call.who.accountId });

export const numbersScreen: Screen = {
  path: "/numbers",
  files: { csv: table },
  forms: { hide: hideForm, settings: settingsForm, digest: digestForm, send: digestSendForm },
  async view(call) {
    const { store } = call.tenant;
    const now = lookTotal(store, call.now, rangeOf(call));
    const before = lookTotal(store, call.now, rangeOf(call, 1));
    const [people, rules, weeks] = await Promise.all([
      ask(call, "person"),
      ask(call, "rule"),
      ask(call, "week"),
    ]);
    const still = (draw: () => Markup) => ({ watches: [], draw });
    return {
      title: "Numbers",
      nav: "numbers",
      sections: {
        head: still(() => head(call, people)),
        totals: still(() => tiles(now, before)),
        advice: { watches: [], draw: () => adviceSection(call) },
        people: still(() => peopleTable(call, people)),
        hours: still(() => heat(now.spans.rang)),
        rules: still(() => rulesTable(call, rules)),
        weeks: still(() => weeksTable(weeks)),
        digest: still(() => digestSection(call)),
        settings: still(() => settingsSection(call)),
      },
    };
  },
};

function head(call: PageCall, { complete, timezone }: NumbersAnswer): Markup {
  const weeks = weeksOf(call);
  const spans = SPANS.map(
    (n) =>
      html`<a href="${call.base}/numbers?weeks=${n}"${n === weeks && html` aria-current="page"`}>${n === 1 ? "1 week" : n === 104 ? "2 years" : `${n} weeks`}</a>`,
  );
  const files = (["person", "rule", "day"] as const).map(
    (by) => html`<a href="${call.base}/numbers/csv?weeks=${weeks}&amp;by=${by}">by ${by}</a> `,
  );
  return html`<nav class="tabs" aria-label="Time">${spans}</nav>
${!complete && empty("The box still reads older history. Look again in a minute.")}
<p class="soft small">Days are counted in ${timezone}. Drills don't count. As a table (CSV): ${files}</p>`;
}

/** The figures that the page draws, and all others, for a spreadsheet. */
async function table(call: PageCall): Promise<PageFile> {
  const by = numbersBy.find((one) => one === call.query.get("by")) ?? "week";
  const body = numbersCsv(await ask(call, by));
  return { name: `numbers-by-${by}.csv`, type: "text/csv; charset=utf-8", body };
}
