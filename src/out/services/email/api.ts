import * as z from "zod";
import { EgressFault } from "../../../ground/kit/egress-error.ts";
import { text } from "../../../ground/kit/fields.ts";
import type { Sent } from "../../outbox/destination.ts";
import type { Via } from "../../outbox/senders/sent.ts";
import { mailAddress } from "./mail.ts";
import { greet, type Mailbox, mailError, submit } from "./smtp.ts";

/** What a mail server's refusals mean; after any other another attempt may get through. */
export const mailRefusals = {
  /** Its login, and the address that mail comes from. */
  settings: /^smtp (53\d|5\d\d .*after MAIL FROM$)/,
  /** It knows no such mailbox. 552 and 554 are also said of one that is full and of a sender that is too busy. */
  unknown: /^smtp 55[013] .*after RCPT TO$/,
};

/** One address without a name, nothing in it that could end a line or begin another address. */
export const mailbox = (description: string) =>
  text(320)
    .regex(/^([^\s\p{Cc}\p{Cf}@<>()[\]\\,;:"]{1,64}@[^\s\p{Cc}\p{Cf}@<>()[\]\\,;:"]{1,255})?$/u, {
      error: "must be one e-mail address",
    })
    .meta({ description });

/** A server that takes mail, as it is set; what is empty is as good as left out. */
export const mailServer = {
  fields: z.strictObject({
    host: text(255).meta({ description: "the SMTP server" }),
    port: text(5)
      .regex(/^([1-9]\d{0,4})?$/, { error: "must be a port" })
      .refine((port) => Number(port) <= 65_535, { error: "must be a port" })
      .optional()
      .meta({ description: "its port (default 587, with implicit TLS 465)" }),
    tls: text(8)
      .regex(/^(starttls|implicit|none)?$/, { error: "must be starttls, implicit or none" })
      .optional()
      .meta({
        description:
          "starttls (default; without it no mail is sent), implicit, or none (not encrypted: only for a server in a trusted network)",
      }),
    user: text(256).optional().meta({ description: "SMTP user name, if the server asks for one" }),
    password: text(256).optional().meta({ description: "the password for it" }),
    from: mailbox("the sender's address"),
  }),
  hosts: ["host"],
  sent: { where: ["host", "port", "tls"], secrets: ["password"] },
} as const;
export type MailGateway = z.output<typeof mailServer.fields>;

/** Whom a mail is from and whom it goes to. */
interface MailEnds {
  from: string;
  to: string;
}

/** Hands over a mail. Taken is not read, and errors hold the server's number but none of its words. */
export async function handOver(
  via: Via,
  gateway: MailGateway,
  { to, write }: { to: string; write: (ends: MailEnds) => Promise<Buffer> },
): Promise<Sent> {
  const ends = { from: mailAddress(gateway.from), to: mailAddress(to) };
  try {
    const bytes = await write(ends);
    const status = await submit(via.egress, serverOf(gateway), { ...ends, bytes });
    return { verdict: { kind: "delivered", status } };
  } catch (fault) {
    const error = fault instanceof EgressFault ? fault.egressError : mailError(fault);
    return { verdict: { kind: error === "busy" ? "waiting" : "later", error } };
  }
}

/** Connects and logs in, and sends nothing. */
export async function proveMail(via: Via, gateway: MailGateway): Promise<Sent> {
  try {
    await greet(via.egress, serverOf(gateway), mailAddress(gateway.from));
    return { verdict: { kind: "delivered", status: 220 } };
  } catch (fault) {
    const error = fault instanceof EgressFault ? fault.egressError : mailError(fault);
    return { verdict: { kind: "later", error } };
  }
}

function serverOf({ host, port, tls, user = "", password = "" }: MailGateway): Mailbox {
  return {
    host,
    port: portOf({ port, tls }),
    tls: tlsOf(tls),
    login: user === "" ? null : { user, password },
  };
}

export function portOf({
  port = "",
  tls = "",
}: {
  port?: string | undefined;
  tls?: string | undefined;
}) {
  return port === "" ? (tls === "implicit" ? 465 : 587) : Number(port);
}

function tlsOf(tls = ""): Mailbox["tls"] {
  return tls === "implicit" || tls === "none" ? tls : "starttls";
}
