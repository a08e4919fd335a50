import * as z from "zod";

/** The ways to sign in. */
const sessionMethods = ["password", "key", "pairing", "passkey", "phone", "oidc"] as const;
export type SessionMethod = (typeof sessionMethods)[number];

const sessionWays: Readonly<Record<SessionMethod, string>> = {
  password: "email and password",
  key: "API key",
  pairing: "invitation",
  passkey: "passkey",
  phone: "phone link",
  oidc: "sign-in provider",
};

/** A signed-in browser as the API lists it. Its cookie is never stored. */
export const sessionAnswer = z
  .object({
    id: z.string(),
    account_id: z.string(),
    method: z.enum(sessionMethods).meta({ description: "How it came in." }),
    provider: z
      .string()
      .nullable()
      .meta({ description: "What the provider was called that it came in by." }),
    key_id: z.string().nullable().meta({ description: "The key it came in by, and ends with." }),
    created_at: z.int(),
    last_seen_at: z.int().meta({ description: "To the minute." }),
    expires_at: z.int().meta({ description: "If it isn't seen again before." }),
    address: z.string().meta({ description: "The client's, when it signed in." }),
    agent: z.string().meta({ description: "What the browser says that it is." }),
  })
  .meta({ id: "Session" });
export type Session = z.output<typeof sessionAnswer>;

/** How the browser signed in, in words. */
export const sessionWay = ({ provider, method }: Pick<Session, "provider" | "method">): string =>
  provider ?? sessionWays[method];
