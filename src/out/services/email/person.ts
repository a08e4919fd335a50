import { z } from "zod";
import { contactKind, gatewayKind } from "../contact-kind.ts";
import { maskedMail } from "../shown.ts";
import { sendEmailDirect } from "./direct.ts";
import { email, proveMail } from "./room.ts";

const { to, ...server } = email.fields.shape;

export const emailGateway = gatewayKind({
  kind: "email",
  about: "the SMTP server that mail to people goes through",
  fields: z.strictObject(server),
  hosts: ["host"],
  sent: { where: ["host", "port", "tls"], secrets: ["password"] },
  // Its login, and the address that mail comes from.
  refuses: /^smtp (53\d|5\d\d .*after MAIL FROM$)/,
  open: ["host", "port", "tls", "user", "from"],
  prove: ({ gateway, egress, now }) => proveMail({ egress, now }, gateway),
});

export const emailContact = contactKind({
  kind: "email",
  about: "a mailbox",
  gateway: "email",
  served: emailGateway.fields,
  fields: z.strictObject({ address: to }),
  shown: ({ address }) => maskedMail(address),
  gapMs: 5_000,
  send: ({ gateway, fields, message, egress, now, tenantId: tenant }) =>
    sendEmailDirect({ egress, now }, { gateway, address: fields.address, message, tenant }),
});
