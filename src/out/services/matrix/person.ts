import { z } from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { contactKind, gatewayKind } from "../contact-kind.ts";
import { lookAt, under } from "../look.ts";
import { masked } from "../shown.ts";
import { editMatrixDirect, sendMatrixDirect } from "./direct.ts";

export const matrixGateway = gatewayKind({
  kind: "matrix",
  about: "an account on a Matrix server; rooms without encryption only",
  fields: z.strictObject({
    url: text(2048, 1).meta({ description: "the homeserver's address" }),
    access_token: text(1024, 1).meta({ description: "the account's access token" }),
  }),
  addresses: ["url"],
  sent: { where: ["url"], secrets: ["access_token"] },
  refuses: /M_(UNKNOWN_TOKEN|MISSING_TOKEN|USER_DEACTIVATED)$/,
  prove: ({ gateway, egress, now }) =>
    lookAt(
      { egress, now },
      {
        url: under(gateway.url, "/_matrix/client/v3/account/whoami"),
        headers: { Authorization: `Bearer ${gateway.access_token}` },
        isYes: ({ user_id: id }) => typeof id === "string",
      },
    ),
});

export const matrixContact = contactKind({
  kind: "matrix",
  about: "a room with the box's Matrix account",
  gateway: "matrix",
  served: matrixGateway.fields,
  fields: z.strictObject({
    address: text(255, 1)
      .regex(/^![^\s:]+(:\S+)?$/, { error: "must be a room's id, like !abc:example.org" })
      .meta({ description: "the room's id; invite the box's account into it first" }),
  }),
  shown: ({ address }) => masked(address),
  gapMs: 5_000,
  notes: true,
  send: ({ gateway, fields, message, egress, now }) =>
    sendMatrixDirect({ egress, now }, { gateway, address: fields.address, message }),
  edit: ({ gateway, fields, message, egress, now }, ref) =>
    editMatrixDirect({ egress, now }, { gateway, address: fields.address, message }, ref),
});
