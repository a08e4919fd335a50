import * as z from "zod";
import {
  holidayDates,
  holidaysName,
  listHolidays,
  MOST_HOLIDAY_CALENDARS,
  putHolidays,
  sortedDates,
} from "../../core/oncall/holidays.ts";
import { bounds } from "../../core/projects/bounds.ts";
import {
  defaultsOf,
  insertLadder,
  listLadders,
  rulesOfLadders,
} from "../../core/projects/ladders.ts";
import { withoutDefaults } from "../../ground/kit/field-kind.ts";
import { list } from "../../ground/kit/fields.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { EMAIL_NAME, foldEmail } from "../../people/email.ts";
import { importedLadders } from "./imported.ts";
import { ladderConfig, named, type ProjectConfig } from "./shape.ts";

/** What an account's id is in a file. */
type EmailOf = (id: string) => string;

type NamedShape = z.ZodObject<{ name: z.ZodType<string> }>;

/** A noun of the whole box: a file lists its things under `tenant`, and parts of projects name them. */
interface TenantNoun<S extends NamedShape, Listed> {
  /** The word for one of them. */
  one: string;
  /** One of them in a file. */
  shape: S;
  most: number;
  /** What of the projects names them, and is applied after them. */
  neededBy: "schedules" | "rules";
  list(reader: Reader): readonly Listed[];
  /** One that is listed, as a file is read. */
  ofFile(one: Listed, emailOf: EmailOf): z.output<S>;
  /** How a file is written, where that isn't just without defaults. */
  written?(one: z.output<S>): object;
  /** What the interface takes of one in a file. */
  body(one: z.output<S>): object;
  /** What names one that a file no longer has, in its projects or others: then it can't go. */
  namedBy?(one: Listed, projects: readonly { name: string; config: ProjectConfig }[]): string[];
  /** Emails of people whom it names. */
  people?(one: z.output<S>): string[];
  /** How the interface makes one: at the address of their list, or as it replaces one. */
  makes: "POST" | "PUT";
  /** What a change shows of it, by lines, where that isn't as a file is written. */
  text?(one: z.output<S>, writeYaml: (value: unknown) => string): string;
  /** Makes one that stands in on a trial. */
  make(tx: Tx, name: string): unknown;
}

const noun = <S extends NamedShape, Listed extends { name: string }>(
  given: TenantNoun<S, Listed>,
) => given;

/** An older box says nothing of imports. */
type ListedLadder = Omit<z.output<typeof ladderConfig>, "imported_from"> & {
  imported_from?: string | null;
  /** As `project/rule`. */
  rules: string[];
  default_of: string[];
};

/** All of them, in the order of a file: another noun is an entry here. */
export const tenantThings = {
  holidays: noun({
    one: "holidays",
    shape: z.strictObject({ name: holidaysName, dates: holidayDates }),
    most: MOST_HOLIDAY_CALENDARS,
    neededBy: "schedules",
    list: listHolidays,
    ofFile: ({ name, dates }) => ({ name, dates }),
    written: ({ name, dates }) => ({
      name,
      dates: dates.map((day) => (day.name === "" ? day.date : day)),
    }),
    body: ({ dates }) => ({ dates: sortedDates(dates) }),
    namedBy: ({ name, schedules }, projects) => [
      ...projects.flatMap((project) =>
        project.config.schedules
          .filter(({ layers }) =>
            layers.some((one) => one.restriction?.holidays?.calendar === name),
          )
          .map((one) => `${project.name}/${one.name}`),
      ),
      ...schedules.filter((one) => !projects.some((of) => one.startsWith(`${of.name}/`))),
    ],
    makes: "PUT",
    text: ({ dates }) =>
      sortedDates(dates)
        .map(({ date, name }) => `${date} ${name}`.trimEnd())
        .join("\n"),
    make: (tx, name) => putHolidays(tx, name, { dates: [] }),
  }),
  ladders: noun({
    one: "ladder",
    shape: ladderConfig,
    most: bounds.ladders,
    neededBy: "rules",
    list(reader): ListedLadder[] {
      const origins = importedLadders(reader);
      const rules = rulesOfLadders(reader);
      const defaults = defaultsOf(reader);
      return listLadders(reader).map((one) => ({
        ...one,
        imported_from: origins.get(one.id) ?? null,
        rules: rules.get(one.id) ?? [],
        default_of: defaults.get(one.id) ?? [],
      }));
    },
    ofFile: ({ name, steps, passes, pass_after_minutes, team, imported_from }, emailOf) => ({
      name,
      steps: steps.map((step) => ({ ...step, accounts: step.accounts.map(emailOf) })),
      passes,
      pass_after_minutes,
      team,
      ...(imported_from != null && { imported_from }),
    }),
    body: ({ imported_from: _from, steps, ...rest }) => ({
      ...rest,
      steps: steps.map(({ accounts, ...step }) => ({
        ...step,
        accounts: accounts.map((email) => `${EMAIL_NAME}${foldEmail(email)}`),
      })),
    }),
    namedBy: ({ name, rules, default_of }, projects) => [
      ...projects.flatMap((project) => [
        ...project.config.rules
          .filter(({ ladder }) => ladder === name)
          .map((one) => `${project.name}/${one.name}`),
        ...(project.config.default_ladder === name ? [project.name] : []),
      ]),
      ...rules.filter((one) => !projects.some((of) => one.startsWith(`${of.name}/`))),
      // Left out of a file it stays.
      ...default_of.filter(
        (one) => projects.find((of) => of.name === one)?.config.default_ladder === undefined,
      ),
    ],
    people: ({ steps }) => steps.flatMap(({ accounts }) => accounts),
    makes: "POST",
    text: ({ imported_from: _from, ...shown }, writeYaml) =>
      writeYaml(withoutDefaults(ladderConfig, shown)).trimEnd(),
    make: (tx, name) =>
      insertLadder(tx, { name, steps: [], passes: 1, pass_after_minutes: null, team: "" }),
  }),
};

type Things = typeof tenantThings;
type Key = keyof Things;
export const tenantNouns = Object.entries(tenantThings) as [
  Key,
  TenantNoun<NamedShape, { name: string }>,
][];

/** One of them as a file is written. */
export const writtenThing = (
  { shape, written }: Pick<TenantNoun<NamedShape, { name: string }>, "shape" | "written">,
  one: z.output<NamedShape>,
) => (written?.(one) ?? withoutDefaults(shape, one)) as Record<string, unknown>;

/** The lists of a file. Left out: they stay as they are. */
export const tenantLists = Object.fromEntries(
  tenantNouns.map(([key, { shape, most }]) => [key, named(shape, most).unwrap().optional()]),
) as { [K in Key]: z.ZodOptional<z.ZodArray<Things[K]["shape"]>> };

/** Names of things that count as existing in a trial of a project. */
export const assumedThings = Object.fromEntries(
  tenantNouns.map(([key, { shape, most }]) => [
    `assume_${key}`,
    list(shape.shape.name, most)
      .optional()
      .describe(`Only with \`dry_run\`: ${key} of the tenant that count as existing.`),
  ]),
) as Record<`assume_${Key}`, z.ZodOptional<z.ZodArray<z.ZodString>>>;

/** What the interface lists of each noun. */
export type ListedThings = Record<Key, readonly { name: string }[]>;

export const listThings = async (list: (noun: Key) => unknown): Promise<ListedThings> => {
  const lists = tenantNouns.map(async ([key]) => [key, await list(key)]);
  return Object.fromEntries(await Promise.all(lists));
};
