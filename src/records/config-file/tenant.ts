import * as z from "zod";
import { holidayDates, holidaysName, MOST_HOLIDAY_CALENDARS } from "../../core/oncall/holidays.ts";
import { bounds } from "../../core/projects/bounds.ts";
import { withoutDefaults } from "../../ground/kit/field-kind.ts";
import { list, text } from "../../ground/kit/fields.ts";
import { contactKindList } from "../../out/services/list.ts";
import { type Lookup, lookUp } from "./secrets.ts";
import { type LadderConfig, ladderConfig, named, type Reference, reference } from "./shape.ts";

/** A file's settings of the whole box: holidays, ladders, gateways, and the fallback. */

/** Whether a setting is written as text. All others are secrets. */
const isOpen = (kind: string, field: string): boolean =>
  field === "url" || (contactKindList.gateway(kind)?.open ?? []).includes(field);

const kinds = contactKindList.gateways.map(({ kind }) => kind);
const setting = z.union([text(2048), reference], {
  error: 'must be a text, "kept", {env: NAME} or {file: path}',
});

const gateway = z
  .strictObject({
    kind: z.enum(kinds, { error: `must be one of ${kinds.join(", ")}` }),
    ...Object.fromEntries(
      Object.keys(contactKindList.gatewayFields).map((field) => [field, setting.optional()]),
    ),
  })
  .superRefine((given: Record<string, unknown>, context) => {
    const kind = String(given["kind"]);
    for (const [field, value] of Object.entries(given)) {
      if (field === "kind" || value === undefined) continue;
      const isText = typeof value === "string" && value !== "kept";
      const message = isOpen(kind, field)
        ? "is no secret: write its value"
        : 'is a secret: "kept", {env: NAME} or {file: path}';
      if (isText !== isOpen(kind, field))
        context.addIssue({ code: "custom", path: [field], message });
    }
  });

const holidaysConfig = z.strictObject({ name: holidaysName, dates: holidayDates });
export type HolidaysConfig = z.output<typeof holidaysConfig>;

export const tenantConfig = z.strictObject({
  /** Left out: they stay as they are. */
  holidays: named(holidaysConfig, MOST_HOLIDAY_CALENDARS).unwrap().optional(),
  /** Left out: they stay as they are. */
  ladders: named(ladderConfig, bounds.ladders).unwrap().optional(),
  /** Left out: they stay as they are. */
  gateways: list(gateway, 20).optional(),
  /** Left out: it stays. Both lists empty: every owner. */
  fallback: z
    .strictObject({
      people: list(text(320, 1), 50).default([]),
      schedules: list(text(300, 3), 20).default([]),
    })
    .optional(),
});

/** A gateway of a file with its secrets read. Kept secrets aren't among its settings. */
interface FileGateway {
  kind: string;
  settings: Record<string, string>;
}

export interface FileTenant {
  gateways: FileGateway[] | null;
  fallback: { people: string[]; schedules: string[] } | null;
  ladders: LadderConfig[] | null;
  holidays: HolidaysConfig[] | null;
}

/** Throws ReferenceFault. */
export function lookUpTenant(
  { gateways, fallback, ladders, holidays }: z.output<typeof tenantConfig>,
  lookup: Lookup,
): FileTenant {
  const settingsOf = (given: Record<string, unknown>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(given).flatMap(([field, value]) => {
        if (value === undefined || value === "kept") return [];
        const found =
          typeof value === "string" ? value : lookUp(value as Exclude<Reference, "kept">, lookup);
        return [[field, found]];
      }),
    );
  return {
    gateways:
      gateways?.map(({ kind, ...given }) => ({ kind, settings: settingsOf(given) })) ?? null,
    fallback: fallback ?? null,
    ladders: ladders ?? null,
    holidays: holidays ?? null,
  };
}

/** The section as a file contains it; undefined where nothing is set. Secrets that a read doesn't return are "kept". */
export function compactTenant(now: {
  gateways: readonly { kind: string; url: string; open: Readonly<Record<string, string>> }[];
  fallback: { people: readonly string[]; schedules: readonly string[] };
  ladders: readonly LadderConfig[];
  holidays: readonly HolidaysConfig[];
}): object | undefined {
  const holidays = now.holidays.map(({ name, dates }) => ({
    name,
    dates: dates.map((day) => (day.name === "" ? day.date : { date: day.date, name: day.name })),
  }));
  const ladders = withoutDefaults(z.array(ladderConfig), now.ladders) as object[];
  const gateways = now.gateways.map(({ kind, url, open }) => ({
    kind,
    ...(url === "" ? {} : { url }),
    ...withoutMade(kind, open),
    ...keptOf(kind),
  }));
  const { people, schedules } = now.fallback;
  const fallback = {
    ...(people.length > 0 && { people }),
    ...(schedules.length > 0 && { schedules }),
  };
  const section = {
    ...(holidays.length > 0 && { holidays }),
    ...(ladders.length > 0 && { ladders }),
    ...(gateways.length > 0 && { gateways }),
    ...(people.length + schedules.length > 0 && { fallback }),
  };
  return Object.keys(section).length === 0 ? undefined : section;
}

/** Leaves out values that each box makes for itself. */
function withoutMade(kind: string, open: Readonly<Record<string, string>>): object {
  const made = contactKindList.gateway(kind)?.made ?? [];
  return Object.fromEntries(Object.entries(open).filter(([name]) => !made.includes(name)));
}

/** The secrets that a gateway of the kind always has. */
function keptOf(kind: string): Record<string, string> {
  const fields = Object.entries(contactKindList.gateway(kind)?.fields.shape ?? {});
  const secrets = fields.filter(([name, schema]) => !isOpen(kind, name) && !schema.isOptional());
  return Object.fromEntries(secrets.map(([name]) => [name, "kept"]));
}
