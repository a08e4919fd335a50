import * as z from "zod";
import { madeOnce } from "./made-once.ts";
import { fits, isStorable } from "./text.ts";

/** Parts of the nouns' schemas: the limits of contract §19 and the rules of contract §2. */

/** Text of `min` to `max` code points that can be stored as sent. */
export const text = madeOnce((max: number, min: number = 0) =>
  z
    .string()
    .superRefine((value, context) => {
      const mustBe = (isSo: boolean, error: string) => isSo || context.addIssue(error);
      mustBe(fits(value, max), `must have at most ${max} characters`);
      mustBe(
        value.length >= min,
        min === 1 ? "must not be empty" : `must have at least ${min} characters`,
      );
      mustBe(isStorable(value), "must not hold NUL or half a surrogate pair");
    })
    .meta({ maxLength: max, ...(min > 0 ? { minLength: min } : {}) }),
);

const UNSAFE_IN_NAME = /[/\p{Cc}]/u;

/** A name that stands in a path: no slash, no control character, no white space at either end, not "." or "..". */
export const pathName = madeOnce((max: number) =>
  text(max, 1)
    .refine((value) => !UNSAFE_IN_NAME.test(value), {
      error: "must not hold a slash or a control character",
    })
    .refine((value) => value.trim() === value, { error: "must not begin or end with white space" })
    .refine((value) => value !== "." && value !== "..", { error: 'must not be "." or ".."' }),
);

export const integer = madeOnce((min: number, max: number = Number.MAX_SAFE_INTEGER) =>
  z
    .int({ error: "must be an integer" })
    .min(min, { error: `must be at least ${min}` })
    .max(max, { error: `must be at most ${max}` }),
);

/** Unix seconds. A value above 10^11 is milliseconds, sent by mistake (contract §2). */
export const time = integer(0).max(100_000_000_000, {
  error: "must be Unix seconds (this looks like milliseconds)",
});

/** A person in a request's body. */
export const person = text(326, 1).describe("An account's id, or `email:` and its address.");

/** The e-mail addresses of the people that an answer names by id. */
export const peopleAnswer = z.array(z.object({ account_id: z.string(), email: z.string() })).meta({
  description: "Whom the ids name, by email; without those who are gone. Read only.",
});

export const boolean = z.boolean({ error: "must be true or false" });

export function list<T extends z.ZodType>(item: T, max: number) {
  return z
    .array(item, { error: "must be an array" })
    .max(max, { error: `must have at most ${max} items` });
}

/** An id as `hexId` makes it. */
export const hexIdField = z
  .string()
  .regex(/^[0-9a-f]{16}$/, { error: "must be 16 lower-case hex characters" });
