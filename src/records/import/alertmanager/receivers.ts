import { sha256 } from "../../../ground/kit/ids.ts";
import type { ImportedProject, ImportReport } from "../importer.ts";
import { UniqueNames } from "../names.ts";
import type { SecretNames } from "../secrets.ts";
import { type ChannelMaker, makers, PAGERS } from "./channels.ts";
import type { Part } from "./part.ts";

/** Receivers, as channels of the project. */

type IntegrationInput = NonNullable<ImportedProject["integrations"]>[number];

export interface Receiver {
  name: string;
  /** Whether the receiver notifies anybody. */
  tells: boolean;
  part: Part;
}

const MOST_INTEGRATIONS = 100;
/** The events of a channel whose receiver doesn't get an alert's end. */
const BUT_ENDS: IntegrationInput["events"] = [
  "alert.opened",
  "alert.escalated",
  "alert.renotified",
  "alert.acknowledged",
] as const as IntegrationInput["events"];

export function readReceivers(part: Part): Map<string, Receiver> {
  const all = new Map<string, Receiver>();
  for (const one of part.list()) {
    const name = one.field("name").text();
    if (name === "") throw one.fault("a receiver has no name");
    if (all.has(name)) throw one.field("name").fault(`there are two receivers "${name}"`);
    all.set(name, { name, tells: kindsOf(one).length > 0, part: one });
  }
  return all;
}

function kindsOf(receiver: Part): { kind: string; configs: Part[] }[] {
  return receiver
    .fields()
    .filter(([field]) => field.endsWith("_configs"))
    .map(([kind, part]) => ({ kind, configs: part.list() }))
    .filter(({ configs }) => configs.length > 0);
}

/** The channels of the receivers that routes name. Receivers with equal settings share a channel. */
export function channelsOf(
  receivers: readonly Receiver[],
  { global, secrets, report }: { global: Part; secrets: SecretNames; report: ImportReport },
): IntegrationInput[] {
  const names = new UniqueNames(128);
  const ids = new UniqueNames(480);
  const made = new Map<string, IntegrationInput>();
  for (const { name, part } of receivers)
    for (const { kind, configs } of kindsOf(part)) {
      const what = `receiver ${name}, ${kind}`;
      const maker = makers[kind];
      if (maker === undefined) {
        part.field(kind).leave();
        report.impossible(what, whyNot(kind));
        continue;
      }
      for (const config of configs) {
        const result = makeAll(maker, config, { global, secrets, name });
        if (result.how === "") report.exact(what, "a channel.");
        else report.nearly(what, result.how);
        for (const fields of result.channels) {
          const key = JSON.stringify(fields);
          if (!made.has(key))
            made.set(key, {
              name: names.give(name),
              ...fields,
              imported_from: `alertmanager:${ids.give(channelId(fields, { kind, name, secrets }))}`,
            });
        }
      }
    }
  const integrations = [...made.values()];
  if (integrations.length > MOST_INTEGRATIONS)
    report.impossible(
      `${integrations.length - MOST_INTEGRATIONS} channels`,
      `a project has at most ${MOST_INTEGRATIONS}, so these were left out: ${integrations
        .slice(MOST_INTEGRATIONS)
        .map(({ name }) => name)
        .join(", ")}.`,
    );
  return integrations.slice(0, MOST_INTEGRATIONS);
}

/** A hash of where it sends, because a receiver may get another name; its name where the file hides that. */
function channelId(
  fields: object,
  { kind, name, secrets: { secrets } }: { kind: string; name: string; secrets: SecretNames },
): string {
  const places = Object.entries(fields).flatMap(([field, value]) => {
    const isPlace = kind !== "email_configs" || field === "to";
    const env = (value as { env?: string }).env;
    const place = field === "url" ? value : secrets.find((one) => one.env === env)?.value;
    return isPlace && place ? [place] : [];
  });
  return `${kind} ${places.length === 0 ? name : sha256(JSON.stringify(places)).slice(0, 16)}`;
}

function makeAll(
  maker: ChannelMaker,
  config: Part,
  how: { global: Part; secrets: SecretNames; name: string },
) {
  const { channels, left } = maker.make(config, how);
  const sendsEnds = config.field("send_resolved").flag(maker.sendsEnds);
  const own = maker.texts.filter((field) => isOwn(config.field(field).leave().value));
  const texts =
    own.length === 0
      ? []
      : [
          `${own.join(", ")} left out: messages have the box's texts, or those of title_template and body_template.`,
        ];
  return {
    channels: channels.map((fields) => ({ ...fields, ...(!sendsEnds && { events: BUT_ENDS }) })),
    how: [...left, ...texts].join(" "),
  };
}

/** Whether a person wrote the text: Alertmanager also shows its default texts. */
function isOwn(value: unknown): boolean {
  if (typeof value === "string")
    return value !== "" && !/^\{\{ template "\w+\.default\.\w+" \. \}\}$/.test(value);
  if (typeof value !== "object" || value === null) return false;
  const entries = Object.entries(value);
  return entries.some(([name, inner]) => !/^(From|To)$/.test(name) && isOwn(inner));
}

function whyNot(kind: string): string {
  return PAGERS.includes(kind)
    ? "left out: the box pages people itself. Until its rules have escalations they page nobody."
    : "the box has no such channel; try a webhook.";
}
