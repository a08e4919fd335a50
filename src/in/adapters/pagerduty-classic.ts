import type { NamedState } from "../ingest/named-fields.ts";
import { type Decoded, type InRequest, UnreadableBody } from "./adapter.ts";
import { fitted } from "./fit.ts";
import { flattened } from "./flatten.ts";
import { asText, type JsonFields, objectOf } from "./json.ts";
import { ALERT_LEVEL } from "./levels.ts";
import { jsonReply } from "./replies.ts";

const ACTIONS: Readonly<Record<string, NamedState["action"]>> = {
  trigger: "fire",
  acknowledge: "acknowledge",
  resolve: "resolve",
};

/** An event of PagerDuty's Events API v1, which has no severity. */
export function pagerdutyClassic(fields: JsonFields, { unique, watched }: InRequest): Decoded {
  const word = asText(fields["event_type"]).toLowerCase();
  const action = Object.hasOwn(ACTIONS, word) ? ACTIONS[word] : undefined;
  const sent = asText(fields["incident_key"]);
  const description = asText(fields["description"]);
  const faults = [
    ...(action === undefined ? ["Event type is invalid"] : []),
    ...(action === "fire" && description.trim() === "" ? ["Description can't be blank"] : []),
    ...(action !== undefined && action !== "fire" && sent === ""
      ? ["Incident key can't be blank"]
      : []),
  ];
  if (action === undefined || faults.length > 0)
    throw new UnreadableBody({ why: "bad_request", message: faults.join("; ") });
  const dedupKey = sent === "" ? unique() : sent;
  const client = asText(fields["client"]);
  const detail = fields["details"];
  return {
    events: [
      fitted(
        {
          message: description || `${word} ${dedupKey}`,
          title: description,
          level: ALERT_LEVEL,
          tags: ["pagerduty"],
          keys: [
            ...(client === "" ? [] : [["client", client] as const]),
            ...(objectOf(detail) === null ? [] : flattened(detail, watched, "detail")),
          ],
          details: typeof detail === "object" ? JSON.stringify(detail, null, 2) : asText(detail),
          links: [{ href: asText(fields["client_url"]), text: client || "Client" }],
          named: { action, dedupKey, instance: null, expiresAt: null },
        },
        watched,
      ),
    ],
    rejected: [],
    answer: () =>
      jsonReply(200, { status: "success", message: "Event processed", incident_key: dedupKey }),
  };
}
