import assert from "node:assert/strict";
import { test } from "node:test";
import * as z from "zod";
import type { Route } from "../../../src/web/http/route.ts";
import { dataPlaneRoutes } from "../../../src/web/http/routes.ts";

/** A read can be put back (contract §2): a field that nobody writes is accepted and ignored. */

interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  properties?: Record<string, Schema>;
  items?: Schema;
}

function fieldsOf(type: z.ZodType, io: "input" | "output"): Record<string, Schema> {
  const whole = z.toJSONSchema(type, { io, unrepresentable: "any" }) as Schema;
  const named = (schema: Schema): Schema =>
    schema.$ref === undefined
      ? schema
      : named(whole.$defs?.[schema.$ref.replace("#/$defs/", "")] ?? {});
  const { properties = {} } = named(whole);
  return Object.fromEntries(
    Object.entries(properties).map(([field, schema]) => [
      field,
      { ...named(schema), items: named(named(schema).items ?? {}) },
    ]),
  );
}

/** The fields of what the PUT changes, as its own GET answers them, else the list that it stands in; null: nothing reads it. */
function readFields({ path }: Route): string[] | null {
  const get = (at: string) =>
    dataPlaneRoutes.find((route) => route.method === "GET" && route.path === at);
  const own = get(path);
  if (own !== undefined) {
    const fields = fieldsOf(own.answer, "output");
    return Object.keys(fields.report?.properties ?? fields);
  }
  const list = get(path.replace(/\/\{\w+\}$/, ""));
  if (list === undefined) return null;
  const first = Object.values(fieldsOf(list.answer, "output"))[0];
  return Object.keys(first?.items?.properties ?? {});
}

test("what a GET answers can be put back: a PUT takes every field of it", () => {
  const forgotten: string[] = [];
  let seen = 0;
  for (const put of dataPlaneRoutes.filter(({ method }) => method === "PUT")) {
    const read = put.body === undefined ? null : readFields(put);
    if (read === null) continue;
    seen++;
    const taken = new Set(Object.keys(fieldsOf(put.body as z.ZodType, "input")));
    for (const name of put.readOnly ?? []) taken.add(name);
    for (const name of read.filter((one) => !taken.has(one))) forgotten.push(`${put.path} ${name}`);
  }
  assert.ok(seen > 12, `${seen}`);
  assert.deepEqual(forgotten, []);
});
