import type { PreviewRows } from "../../../core/oncall/answers.ts";
import type { PreviewAnswer } from "../../../core/oncall/schedule.ts";

type PreviewShift = PreviewAnswer["shifts"][number];

/** What is drawn of one stretch, of somebody's or, null, of nobody's. */
export type CalendarBlock = Omit<PreviewShift, "account_id" | "email"> & {
  account_id: string | null;
};

export interface CalendarRow {
  kind: "final" | "override" | "layer";
  name: string;
  /** Which layer, for its pattern; 0 for the others. */
  index: number;
  blocks: CalendarBlock[];
}

/** More than that nobody can tell apart in one row. */
export const MOST_BLOCKS = 1000;

/** Shifts and gaps in their order. Who is gone is nobody, as the box has it. */
export function blocksOf({ shifts, gaps }: PreviewAnswer): CalendarBlock[] {
  const taken = shifts.map(({ email, account_id, ...shift }) => ({
    ...shift,
    account_id: email === "" ? null : account_id,
  }));
  const none = gaps.map((gap) => ({ ...gap, account_id: null, layer: null, override_id: null }));
  return [...taken, ...none].sort((a, b) => a.starts_at - b.starts_at);
}

const somebody = ({ account_id }: CalendarBlock): boolean => account_id !== null;

/** A calendar's rows: the final schedule with its gaps, the overrides, then each layer, the winning one first. */
export function calendarRows({ final, overrides, layers }: PreviewRows): CalendarRow[] {
  const part = (preview: PreviewAnswer) => blocksOf(preview).filter(somebody).slice(0, MOST_BLOCKS);
  return [
    { kind: "final", name: "final", index: 0, blocks: blocksOf(final).slice(0, MOST_BLOCKS) },
    { kind: "override", name: "overrides", index: 0, blocks: part(overrides) },
    ...layers
      .map(({ name, preview }, index): CalendarRow => {
        return { kind: "layer", name, index, blocks: part(preview) };
      })
      .reverse(),
  ];
}
