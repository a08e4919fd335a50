import { type Command, Option } from "commander";
import type { z } from "zod";
import { type FieldFlag, fieldFlags } from "../src/ground/kit/field-kind.ts";
import { levelHelp } from "./level.ts";
import { readOption } from "./options.ts";

type Shape = Readonly<Record<string, z.ZodType>>;

const flagsOf = (shape: Shape): [name: string, of: FieldFlag][] =>
  Object.entries(shape).flatMap(([name, schema]): [string, FieldFlag][] => {
    const of = fieldFlags.get(schema);
    return of === undefined ? [] : [[name, of]];
  });

/** Adds the flags of a noun's fields, in the order of its shape. */
export function addFieldFlags(command: Command, shape: Shape): Command {
  for (const [, { flag, about }] of flagsOf(shape))
    command.addOption(readOption(flag, about.replace("LEVEL", levelHelp)));
  return command;
}

/** The fields whose flags were given, as the interface takes them. */
export function fieldsGiven(shape: Shape, options: object): Record<string, unknown> {
  const given = new Map(Object.entries(options));
  return Object.fromEntries(
    flagsOf(shape).flatMap(([name, { flag }]) => {
      const value: unknown = given.get(new Option(flag).attributeName());
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
