import * as z from "zod";
import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import type { Reader } from "../../ground/store/store.ts";
import type { LabelCondition } from "../projects/condition.ts";
import { CRITICAL } from "../quiet/decide.ts";
import { type SilenceRow, type SilenceWrite, silenceWrite } from "../quiet/silence.ts";
import { silenceOf } from "../quiet/silences.ts";
import { type AlertRow, findAlertRow, getAlertRow } from "./alert.ts";
import { type Siblings, siblingsOf } from "./apart.ts";
import type { Varied } from "./label-book.ts";
import { labelsOf } from "./labels.ts";
import { silenceOfAlert } from "./silence-alert.ts";
import { previewSilence, type SilencePreview, titledAlert, titledAlerts } from "./silencing.ts";

/** The narrowest silence that names an alert, and what else it takes. */

export const offeredSilence = z
  .object({
    silence: silenceWrite.meta({
      description:
        "A body for `POST /v1/silences`, for an hour: the alert's rule, template and identifiers, and at most three labels by which it differs from the other unresolved alerts of its rule. `critical` is false: that is for a person to say.",
    }),
    also: z.array(titledAlert).meta({
      description:
        "Other open alerts that it would match now, 500 at most. For a critical alert, this and `also_before` are counted as with `critical`.",
    }),
    also_before: z.int().meta({
      description: "How many other alerts of the past seven days it would have matched.",
    }),
    folds: z.record(z.string(), z.array(z.string())).meta({
      description:
        "Labels whose value differs between the alert's events, with the known values. No silence can match only some of these events. In `identifier_keys`, each value gets an alert of its own.",
    }),
  })
  .meta({ id: "OfferedSilence" });
export type OfferedSilence = z.output<typeof offeredSilence>;

const MOST_LABELS = 3;
const HOUR = 3600;

/** Labels that tell it from its unresolved siblings, beside identifiers; none that differs between its own events. */
export function labelsApart(
  reader: Reader,
  row: AlertRow,
  siblings = siblingsOf(reader, row),
): LabelCondition[] {
  const of = labelsOf(row);
  const identifiers = Object.keys(JSON.parse(row.identifiers) as object);
  return siblings
    .differing(row.id, of, identifiers)
    .filter((name) => !identifiers.includes(name) && !Object.hasOwn(of.varied, name))
    .slice(0, MOST_LABELS)
    .map((key) => ({ key, op: "eq", value: of.labels[key] as string }));
}

/** Rules whose alerts are remembered. */
const MOST_RULES = 32;

/** As `labelsApart`, for many alerts one after the other: each would read all of its siblings. */
export function labelsApartOfMany(): (reader: Reader, row: AlertRow) => LabelCondition[] {
  const ofRule = new ForgetfulMap<number, Siblings>(MOST_RULES);
  return (reader, row) => {
    const siblings = ofRule.get(row.rule_id) ?? siblingsOf(reader, row);
    ofRule.set(row.rule_id, siblings);
    return labelsApart(reader, row, siblings);
  };
}

/** What the narrowest silences of these alerts would take beside them; ids that none has are left out. */
export async function previewNarrowest(
  reader: Reader,
  ids: readonly number[],
  of: { at: number; accountId: string; pause: () => Promise<unknown> },
): Promise<SilencePreview> {
  const labels = labelsApartOfMany();
  const rows: SilenceRow[] = [];
  for (const id of ids) {
    const row = findAlertRow(reader, id);
    if (row === null) continue;
    const about = { ends_at: of.at + HOUR, reason: `From alert #${id}.` };
    const write = { ...silenceOfAlert(row, about), labels: labels(reader, row) };
    rows.push(silenceOf(reader, { write, createdBy: of.accountId, at: of.at }));
    if (rows.length % AT_ONCE === 0) await of.pause();
  }
  return await previewSilence(reader, rows, { ...of, except: new Set(ids) });
}

const AT_ONCE = 10;

/** A silence of this alert that takes as little else as can be said; never of critical ones. */
export function narrowestSilence(
  reader: Reader,
  row: AlertRow,
  of: { ends_at: number; reason: string },
): SilenceWrite {
  return { ...silenceOfAlert(row, of), labels: labelsApart(reader, row), critical: false };
}

/** What a label's values are where the rule could tell them apart and doesn't. */
function foldedLabels(row: AlertRow): Varied {
  return labelsOf(row).varied;
}

/** Throws 404. */
export async function offerSilence(
  reader: Reader,
  id: number,
  of: { at: number; accountId: string; pause: () => Promise<unknown> },
): Promise<OfferedSilence> {
  const row = getAlertRow(reader, id);
  const ends_at = of.at + HOUR;
  const silence = narrowestSilence(reader, row, { ends_at, reason: `From alert #${id}.` });
  const write = { ...silence, critical: row.level >= CRITICAL };
  const made = silenceOf(reader, { write, createdBy: of.accountId, at: of.at });
  const { alerts, past } = await previewSilence(reader, [made], {
    ...of,
    except: new Set([id]),
  });
  const also = titledAlerts(reader, alerts.map(Number), alerts.length);
  const folds = Object.fromEntries(
    Object.entries(foldedLabels(row)).map(([name, values]) => [name, [...values]]),
  );
  return { silence, also, also_before: past.alerts, folds };
}
