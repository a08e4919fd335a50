import type { z } from "zod";
import { type ErrorDetail, invalid } from "./errors.ts";

/** How the path of a bad field is written: a JSON pointer (body), `?name` (query), `{name}` (path). */
type Place = "body" | "query" | "path";

/** Parses `value` by `schema`. Throws a 400 that lists every bad field. */
export function check<T extends z.ZodType>(schema: T, value: unknown, place: Place): z.infer<T> {
  const { error, data } = schema.safeParse(value);
  const faults =
    error === undefined
      ? passedOver(value, data).map((path) => ({
          field: fieldName(path, place),
          reason: "can't have that name",
        }))
      : error.issues.flatMap((issue) => details(issue, place));
  if (faults.length > 0) throw invalid(faults.slice(0, 100));
  return data as z.infer<T>;
}

const ODD = "__proto__";

/** Paths where `__proto__` was sent. zod silently drops that name, so a filter that was sent would be lost. */
function passedOver(sent: unknown, kept: unknown): string[][] {
  if (sent === kept || !isRecord(sent) || !isRecord(kept)) return [];
  return Object.keys(sent).flatMap((name) => {
    if (Object.hasOwn(kept, name))
      return passedOver(sent[name], kept[name]).map((path) => [name, ...path]);
    return name === ODD ? [[name]] : [];
  });
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

function details(issue: z.core.$ZodIssue, place: Place): ErrorDetail[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      field: fieldName([...issue.path, key], place),
      reason: "unknown field",
    }));
  }
  return [{ field: fieldName(issue.path, place), reason: reason(issue) }];
}

function reason(issue: z.core.$ZodIssue): string {
  if (
    issue.code === "invalid_type" &&
    issue.input === undefined &&
    issue.message.includes("undefined")
  )
    return "is required";
  return issue.message.replace(/^Invalid input: /, "").slice(0, 200);
}

function fieldName(path: readonly PropertyKey[], place: Place): string {
  const [first] = path;
  if (place === "query") return `?${String(first ?? "")}`;
  if (place === "path") return `{${String(first ?? "")}}`;
  return path
    .map((part) => `/${String(part).slice(0, 100).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}
