import * as z from "zod";

/** What a noun's schema says of its fields, for code that shows, compares or shortens them. */

/** A form's label for a field, and the unit of its number. Without a label the form shows the field's name. */
interface FieldLabel {
  label: string;
  unit?: string;
}

export const fieldLabels = z.registry<FieldLabel>();

/** How the command line takes a field: `--every <span>`. The word says how it is read (`readOption` of cli/options.ts); others are texts. */
export interface FieldFlag {
  flag: string;
  about: string;
}

/** Flags by schema: `text(64).optional().register(fieldFlags, { flag: "--slug <slug>", about: "its name in addresses" })`. */
export const fieldFlags = z.registry<FieldFlag>();

/** A field that fits one line of a form: a number, a switch, a text, or texts with commas between them. */
type SimpleKind = "number" | "switch" | "text" | "list";

export interface SimpleField {
  name: string;
  kind: SimpleKind;
  label: string;
  unit?: string;
  /** The schema's description. */
  hint: string;
}

/** The schema without its default, null and undefined. */
function innerOf(schema: z.core.$ZodType): z.core.$ZodType {
  if (
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodOptional
  )
    return innerOf(schema.unwrap());
  return schema;
}

/** The fields that a read answers and a body doesn't take. */
export function onlyRead(read: z.core.$ZodType, body: z.core.$ZodType): string[] {
  const taken = namesOf(body);
  return namesOf(read).filter((name) => !taken.includes(name));
}

function namesOf(schema: z.core.$ZodType): string[] {
  const inner = innerOf(schema);
  if (inner instanceof z.ZodUnion) return inner.options.flatMap(namesOf);
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
}

function kindOf(schema: z.core.$ZodType): SimpleKind | null {
  if (schema instanceof z.ZodDefault) return kindOf(schema.unwrap());
  if (schema instanceof z.ZodNumber) return "number";
  if (schema instanceof z.ZodBoolean) return "switch";
  if (schema instanceof z.ZodString) return "text";
  return schema instanceof z.ZodArray && schema.element instanceof z.ZodString ? "list" : null;
}

/** The fields of a shape that fit one line each, in the shape's order. A field that may be null isn't among them. */
export function simpleFields(shape: Readonly<Record<string, z.ZodType>>): SimpleField[] {
  return Object.entries(shape).flatMap(([name, schema]) => {
    const kind = kindOf(schema);
    if (kind === null) return [];
    const { label = name.replaceAll("_", " "), unit } = fieldLabels.get(schema) ?? {};
    const hint = schema.description ?? "";
    return [{ name, kind, label, hint, ...(unit === undefined ? {} : { unit }) }];
  });
}

/** `value` in the schema's order, without fields at their defaults. Unknown fields stay. */
export function withoutDefaults(schema: z.core.$ZodType, value: unknown): unknown {
  const inner = innerOf(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value))
    return value.map((item) => withoutDefaults(inner.element, item));
  if (!(inner instanceof z.ZodObject) || typeof value !== "object" || value === null) return value;
  const shape: Readonly<Record<string, z.core.$ZodType>> = inner.shape;
  const held = new Map(Object.entries(value));
  const known = Object.keys(shape).filter((name) => held.has(name));
  const others = [...held.keys()].filter((name) => !(name in shape));
  return Object.fromEntries(
    [...known, ...others].flatMap((name) => {
      const field = shape[name];
      const one = held.get(name);
      if (field === undefined) return [[name, one]];
      return isDefault(field, one) ? [] : [[name, withoutDefaults(field, one)]];
    }),
  );
}

function isDefault(field: z.core.$ZodType, value: unknown): boolean {
  if (!(field instanceof z.ZodDefault || field instanceof z.ZodPrefault)) return false;
  return JSON.stringify(field.parse(undefined)) === JSON.stringify(value);
}
