import assert from "node:assert/strict";
import { test } from "node:test";
import { ruleCreate, type StoredRule } from "../../../src/core/projects/rule.ts";
import type { PastAlert } from "../../../src/records/advice/history.ts";
import { type RulePast, situationOf } from "../../../src/records/advice/situations.ts";

/* Each situation as its rule's past alone tells it, and what must never come of it. */

const MIN = 60;
const DAY = 86_400;
const ANN = { accounts: ["00000000000000a1"], after_minutes: 0 };
const CID = { accounts: ["00000000000000c1"], after_minutes: 0 };

const ruleOf = (id: number, name: string, more: object): StoredRule => ({
  ...ruleCreate.parse({ name, ...more }),
  id,
  project_id: 1,
  created_at: 0,
  updated_at: 0,
});

/** Alerts of the rule, a day apart and ended by hand after an hour, unless told otherwise. */
const past = (
  rule: StoredRule,
  count: number,
  each: (i: number) => Partial<PastAlert> & { lasts?: number } = () => ({}),
): RulePast => ({
  rule,
  pages: count,
  alerts: Array.from({ length: count }, (_, i) => {
    const { lasts = 3600, openedAt = i * DAY, ...more } = each(i);
    return {
      // What another rule opens on the same day opens before.
      id: i * 10 + 9 - rule.id,
      level: 400,
      openedAt,
      endedAt: openedAt + lasts,
      isEndedBySource: false,
      isActedOn: true,
      identifiers: {},
      key: "k",
      isNamed: false,
      steps: new Map(),
      takenBy: null,
      isTakenAtSource: false,
      ...more,
    };
  }),
});

const own = ruleOf(1, "own", { escalations: [ANN] });
const cause = ruleOf(2, "cause", {});
const far = ruleOf(3, "far", { silenced_by: [{ rule: "own" }] });
const two = ruleOf(1, "own", { escalations: [CID, { ...ANN, after_minutes: 5 }] });
const fine = ruleOf(1, "own", { identifier_keys: ["request"] });
const alone = { isActedOn: false, isNamed: true, isEndedBySource: true };
const critical = { level: 500 };
const after = (gap: number) => (i: number) => ({ openedAt: i * DAY + gap });
const bursts = (i: number) => ({
  openedAt: Math.floor(i / 8) * DAY + (i % 8) * MIN,
  identifiers: { request: `r${i}` },
});
const climbed = {
  steps: new Map([
    [1, CID.accounts],
    [2, ANN.accounts],
  ]),
  takenBy: "00000000000000a1",
};
const again = (i: number) => ({ openedAt: i * 30 * MIN, lasts: 15 * MIN, isActedOn: false });

const table: [what: string, kind: string | null, of: RulePast, others?: RulePast[]][] = [
  ["ended by its sender", "ends_by_itself", past(own, 9, () => ({ ...alone, lasts: 180 }))],
  ["ended by quiet", null, past(own, 9, () => ({ isActedOn: false, lasts: 180 }))],
  [
    "ended by its sender, critical",
    null,
    past(own, 9, () => ({ ...alone, ...critical, lasts: 180 })),
  ],
  ["again and again", "flaps", past(own, 9, again)],
  [
    "again and again, critical: it pages as before",
    "flaps",
    past(own, 9, (i) => ({ ...again(i), ...critical })),
  ],
  ["nobody acts", "nobody_acts", past(own, 10, () => ({ isActedOn: false }))],
  [
    "nobody acts, one was critical",
    null,
    past(own, 10, (i) => ({ isActedOn: false, level: i === 3 ? 500 : 400 })),
  ],
  ["one cause", "one_cause", past(own, 9, after(MIN)), [past(cause, 9)]],
  [
    "one cause, critical",
    null,
    past(own, 9, (i) => ({ ...after(MIN)(i), ...critical })),
    [past(cause, 9)],
  ],
  [
    "one cause that it would silence in turn",
    null,
    past(own, 9, after(MIN)),
    [past(ruleOf(2, "cause", { silenced_by: [{ rule: "far" }] }), 9), past(far, 0)],
  ],
  ["too fine", "many_of_one", past(fine, 24, bursts)],
  ["too fine, critical", null, past(fine, 24, (i) => ({ ...bursts(i), ...critical }))],
  [
    "named by its sender: no identifier tells it apart",
    null,
    past(fine, 24, (i) => ({ ...bursts(i), isNamed: true })),
  ],
  ["never answered", "never_answered", past(two, 9, () => climbed)],
  ["never answered, critical", null, past(two, 9, () => ({ ...climbed, ...critical }))],
  [
    "acknowledged at its source: who did isn't known",
    null,
    past(two, 9, (i) => ({ ...climbed, isTakenAtSource: i === 0 })),
  ],
];

test("a rule's past says what to change, and never what makes a critical page later or none", () => {
  for (const [what, kind, of, others = []] of table)
    assert.equal(situationOf(of, [of, ...others])?.kind ?? null, kind, what);
});

test("a step that is taken out leaves the others as late as they were, or sooner", () => {
  const change = situationOf(
    past(two, 9, () => climbed),
    [],
  )?.change;
  assert.deepEqual(
    change?.escalations?.map(({ accounts, after_minutes }) => [accounts, after_minutes]),
    [[ANN.accounts, 0]],
  );
  const last = ruleOf(1, "own", { escalations: [ANN, { ...CID, after_minutes: 5 }] });
  const swapped = {
    steps: new Map([
      [1, ANN.accounts],
      [2, CID.accounts],
    ]),
    takenBy: "00000000000000a1",
  };
  assert.deepEqual(
    situationOf(
      past(last, 9, () => swapped),
      [],
    )?.change?.escalations?.map(({ accounts }) => accounts),
    [ANN.accounts],
  );
});
