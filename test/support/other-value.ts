import { z } from "zod";

/** Values for places where the schema alone doesn't say what is taken: what is named there must be there. `/steps/0/people`. */
export type Given = Readonly<Record<string, unknown>>;

const NUMBERS = [7, 450, 61, 3, 1, 0];
const TEXTS = ["other", "https://other.example.org/x", "Asia/Kolkata", "0123456789abcdef"];

/**
 * A value of which every field, at every depth, is given and isn't its default: whoever forgets a field loses it.
 * Throws where nothing that it knows is taken.
 */
export function otherValue(schema: z.core.$ZodType, given: Given = {}, at = ""): unknown {
  if (at in given) return given[at];
  if (
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable
  ) {
    const inner = schema.unwrap();
    const usual = schema instanceof z.ZodDefault ? schema.parse(undefined) : undefined;
    const leaf = leafOf(inner, usual);
    return leaf === undefined ? otherValue(inner, given, at) : leaf;
  }
  if (schema instanceof z.ZodObject)
    return Object.fromEntries(
      Object.entries(schema.shape)
        .map(([name, field]) => [name, otherValue(field, given, `${at}/${name}`)] as const)
        .filter(([, value]) => value !== undefined),
    );
  if (schema instanceof z.ZodArray) return [otherValue(schema.element, given, `${at}/0`)];
  if (schema instanceof z.ZodUnion && schema.options[0])
    return otherValue(schema.options[0], given, at);
  const leaf = leafOf(schema, undefined);
  if (leaf === undefined) throw new Error(`what is taken at ${at} has to be given`);
  return leaf;
}

/** Of a schema that holds one value; undefined where it holds more, or nothing fits. */
function leafOf(schema: z.core.$ZodType, usual: unknown): unknown {
  const candidates =
    schema instanceof z.ZodNumber
      ? NUMBERS
      : schema instanceof z.ZodString
        ? TEXTS
        : schema instanceof z.ZodBoolean
          ? [true, false]
          : schema instanceof z.ZodEnum
            ? schema.options.toReversed()
            : [];
  return candidates.find((one) => one !== usual && z.safeParse(schema, one).success);
}
