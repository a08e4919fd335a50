import { z } from "zod";

/** What a noun's schema says of its fields, for whoever draws, compares or shortens them. A field is stated once, in its schema. */

/** What a form calls a field, and the unit behind its number. Without it a form takes the field's own name. */
export interface FieldLabel {
  label: string;
  unit?: string;
}

/** Labels by schema: `integer(0).default(0).register(fieldLabels, { label: "Open at once at most" })`. */
export const fieldLabels = z.registry<FieldLabel>();

/** A field that one line of a form holds: a number, a tick, a text, or texts with commas between. */
export type SimpleKind = "number" | "switch" | "text" | "list";

export interface SimpleField {
  name: string;
  kind: SimpleKind;
  label: string;
  unit?: string;
  /** The schema's description. */
  hint: string;
}

/** The schema without its default, and without null and undefined where it takes them. */
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

function kindOf(schema: z.core.$ZodType): SimpleKind | null {
  if (schema instanceof z.ZodDefault) return kindOf(schema.unwrap());
  if (schema instanceof z.ZodNumber) return "number";
  if (schema instanceof z.ZodBoolean) return "switch";
  if (schema instanceof z.ZodString) return "text";
  return schema instanceof z.ZodArray && schema.element instanceof z.ZodString ? "list" : null;
}

/** The fields of a shape that one line each can hold, in the shape's order. One that may be null is none. */
export function simpleFields(shape: Readonly<Record<string, z.ZodType>>): SimpleField[] {
  return Object.entries(shape).flatMap(([name, schema]) => {
    const kind = kindOf(schema);
    if (kind === null) return [];
    const { label = name.replaceAll("_", " "), unit } = fieldLabels.get(schema) ?? {};
    const hint = schema.description ?? "";
    return [{ name, kind, label, hint, ...(unit === undefined ? {} : { unit }) }];
  });
}

/** `value` without what stands at its schema's default, at every depth, in the schema's order. A field that the schema doesn't know stays. */
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
