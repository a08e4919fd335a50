import type { NamedState } from "../ingest/named-fields.ts";
import type { Decoded, InRequest } from "./adapter.ts";
import { fitted } from "./fit.ts";
import { asText, type JsonFields, listOf, objectOf, textPairs } from "./json.ts";
import { ALERT_LEVEL, levelOfWord } from "./levels.ts";
import { jsonReply } from "./replies.ts";

/** Series of one rule that are shown. */
const MOST_MATCHES = 20;

/** A notification of Grafana's alerting before version 9: one for a rule, whatever part of it fires. */
export function grafanaLegacy(fields: JsonFields, { watched }: InRequest): Decoded {
  const state = asText(fields["state"]).toLowerCase();
  const tags = textPairs(fields["tags"]);
  // A rule that is pending or paused doesn't fire.
  const isNews = state !== "pending" && state !== "paused";
  const [firstLine = ""] = asText(fields["message"]).trim().split("\n");
  const name = asText(fields["ruleName"]) || asText(fields["title"]);
  const named: NamedState = {
    action: state === "ok" ? "resolve" : "fire",
    dedupKey: `grafana-legacy:${asText(fields["orgId"]) || "0"}:${asText(fields["ruleId"]) || name}`,
    instance: null,
    expiresAt: null,
  };
  const severity = tags.find(([tag]) => tag === "severity")?.[1] ?? "";
  const image = asText(fields["imageUrl"]);
  const event = fitted(
    {
      message: firstLine === "" ? name : `${name}: ${firstLine}`,
      title: name,
      level: state === "no_data" ? 300 : (levelOfWord(severity) ?? ALERT_LEVEL),
      keys: [...tags, ...values(fields["evalMatches"])],
      tags: ["grafana"],
      named,
      links: [{ href: asText(fields["ruleUrl"]), text: "Rule" }],
      images: image === "" ? [] : [{ src: image }],
    },
    watched,
  );
  return {
    events: isNews ? [event] : [],
    rejected: [],
    answer: (taken) => jsonReply(200, taken),
  };
}

function values(matches: unknown): [string, string][] {
  return (listOf(matches) ?? []).slice(0, MOST_MATCHES).flatMap((match) => {
    const fields = objectOf(match);
    const metric = asText(fields?.["metric"]);
    return fields === null || metric === ""
      ? []
      : [[`value.${metric}`, asText(fields["value"])] as [string, string]];
  });
}
