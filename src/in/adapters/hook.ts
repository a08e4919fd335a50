import {
  type Adapter,
  alertCaps,
  type Decoded,
  type InRequest,
  UnreadableBody,
} from "./adapter.ts";
import { mapped } from "./mapping/apply.ts";
import { bodyValue } from "./mapping/body.ts";
import { mappingOf } from "./mapping/chosen.ts";
import { jsonReply } from "./replies.ts";
import { isSigned } from "./signature.ts";

const METHODS = ["POST", "PUT", "GET"];

/** Any webhook (contract §23), read by guesses or the source's mapping. A list is one event per element. */
export const hook: Adapter = {
  kind: "hook",
  title: "Any webhook",
  identity: {
    title: ["the mapping's title", "title", "summary", "subject"],
    labels: [],
    named: "some",
  },
  room: "source",
  caps: alertCaps,
  isDescribed: true,
  // GitHub's signature, which others use, too.
  isSigned: (request, secret) =>
    isSigned(request, { secret, name: "x-hub-signature-256", prefix: "sha256=" }),
  decode,
  setUp: ({ base, token }) => ({
    where: "the sender, where it asks for a webhook's address",
    paste: `${base}/v1/in/hook/${token}`,
    notes: [
      "The box takes POST, PUT and GET with JSON, a form, text or a query. Without a mapping it guesses message, level, state and name of the alert from the usual fields.",
      "Most senders try once: what they send while the box is off is lost.",
    ],
  }),
};

function decode(request: InRequest): Decoded {
  if (!METHODS.includes(request.method))
    throw new UnreadableBody({ why: "method", allowed: METHODS });
  const root = bodyValue(request);
  const { events, rejected } = mapped(root, {
    mapping: mappingOf(request.options),
    request,
    tag: "hook",
  });
  return { events, rejected, answer: ({ accepted }) => jsonReply(200, { accepted }) };
}
