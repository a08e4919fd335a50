import * as z from "zod";
import { hexIdField, integer, list, person, text } from "../../ground/kit/fields.ts";
import { contactKindList } from "../services/list.ts";

/** Contacts, gateways and what a person wants of them: as they are written and read over the interface. */

export const contactAnswer = z
  .object({
    id: z.string(),
    kind: z.string(),
    label: z.string(),
    address: z.string().meta({ description: "Masked: its last characters." }),
    state: z.enum(["unverified", "verified", "failing", "off"]).meta({
      description:
        "`unverified`: not used until its person enters the code. `failing`: the latest messages did not get through; the box keeps trying. `off`: never used.",
    }),
    verified_at: z.int().nullable(),
    last_ok_at: z.int().nullable(),
    last_error: z.string().nullable(),
    shown_at: z.int().nullable().meta({
      description: "When a device last said that it showed a message; null where none can or did.",
    }),
    created_at: z.int(),
  })
  .meta({ id: "Contact" });
export type Contact = z.output<typeof contactAnswer>;

const kinds = contactKindList.kinds.map(({ kind }) => kind);

/** The body that makes a contact: its kind, and the fields of that kind. */
export const contactWrite = z.strictObject({
  kind: z.enum(kinds, { error: `must be one of ${kinds.join(", ")}` }),
  label: text(128).optional(),
  ...contactKindList.fields,
});

export const contactChange = z.strictObject({
  label: text(128).optional(),
  state: z
    .enum(["verified", "off"], { error: "must be verified or off" })
    .optional()
    .meta({ description: "`off` keeps it and doesn't use it; `verified` uses it again." }),
});

/** Without a code one is sent; with it the contact is verified. */
export const contactVerify = z.strictObject({
  code: z
    .string()
    .regex(/^\s*\d{3}\s*\d{3}\s*$/, { error: "must be six digits" })
    .optional(),
});

export const gatewayAnswer = z
  .object({
    kind: z.string(),
    url: z.string().meta({ description: "Empty: the public service." }),
    open: z.record(z.string(), z.string()).meta({ description: "Settings that are no secret." }),
    last_ok_at: z.int().nullable(),
    last_error: z.string().nullable(),
    updated_at: z.int(),
  })
  .meta({ id: "Gateway" });
export type Gateway = z.output<typeof gatewayAnswer>;

export const gatewayWrite = z.strictObject({
  ...contactKindList.gatewayFields,
  test: z.boolean().optional().meta({
    description: "False: stored without a request that shows whether it works.",
  }),
});

/** Rules and seconds a person may set. */
const MOST_RULES = 10;
const LONGEST_REST = 3_600;

const notifyRule = z.strictObject({
  after_seconds: integer(0, LONGEST_REST),
  contacts: list(hexIdField, 20),
  min_level: integer(0, 1_000_000)
    .default(0)
    .meta({ description: "Alerts below it don't use this rule." }),
});

/** What a person wants: when which contacts are used. None: all verified ones at once, calls after two minutes. */
export const notifyBody = z
  .strictObject({ rules: list(notifyRule, MOST_RULES) })
  .meta({ id: "NotificationRules" });
export type NotifyRule = z.output<typeof notifyRule>;

/** Who is paged when nobody on a whole ladder can be reached; every owner, too, if both are empty or nothing reaches any of them. */
export const fallbackBody = z
  .strictObject({
    accounts: list(person, 50),
    schedules: list(text(300, 3), 20).meta({
      description: "`{project}/{schedule}`: the person on call there.",
    }),
  })
  .meta({ id: "Fallback" });
export type Fallback = z.output<typeof fallbackBody>;
