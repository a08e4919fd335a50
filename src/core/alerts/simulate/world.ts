import type { Reader } from "../../../ground/store/store.ts";
import type { Contact } from "../../../out/contacts/contact.ts";
import { listContacts } from "../../../out/contacts/contacts.ts";
import { createReachable, type Reachable } from "../../../out/paging/reachable.ts";
import type { OnCallSeat } from "../../oncall/duty.ts";
import { patternTimeOf } from "../../projects/pattern.ts";
import type { StoredRule } from "../../projects/rule.ts";
import { membersAmong } from "../../projects/rule-references.ts";
import { decideSilenced, matchingSilences } from "../../quiet/decide.ts";
import { silencesWithin } from "../../quiet/rows.ts";
import type { SimulationContext } from "../course-shape.ts";
import { inhibitorOf } from "../inhibitor.ts";
import { NOWHERE, readFallbackPlaces } from "../nobody-reached.ts";
import { readSeats } from "../reach.ts";
import type { ChannelFact } from "../reach-report.ts";
import { channelsOfProject } from "../reached.ts";
import { displayNameOf } from "../said.ts";
import type { SimulatedChannel } from "./shape.ts";

/** The alert that is thought of. */
interface SimulatedInput {
  rule: StoredRule;
  level: number;
  identifiers: Readonly<Record<string, string>>;
  source: string | null;
}

/** All that a simulation looks at, read at once: while it is followed nothing is asked of the store. */
export interface World extends SimulationContext, SimulatedInput {
  /** The seat of a schedule as the rule's ladder names it; null where there is none. */
  seatOf(name: string): OnCallSeat | null;
  nameOf(account: string): string | null;
  waysTo(account: string): readonly SimulatedChannel[];
  /** Whether a contact is verified and took what was sent last. */
  confirms(contactId: string): boolean;
  channels: readonly ChannelFact[];
}

/** As the store has it now, for alerts that open and are followed within these times. */
export function readWorld(
  reader: Reader,
  imagined: SimulatedInput,
  range: { from: number; until: number },
): World {
  const { rule, level, identifiers, source } = imagined;
  const fallback = readFallbackPlaces(reader);
  const { seat, onCall } = readSeats(reader);
  const seatOf = (name: string) => seat({ projectId: rule.project_id, name });
  const seats = rule.escalations.flatMap(({ schedules }) => schedules.map(seatOf));
  const fallbackSeats = fallback.schedules.map((name) => seat({ projectId: NOWHERE, name }));
  const people = new Set([
    ...rule.escalations.flatMap(({ accounts }) => accounts),
    ...[...seats, ...fallbackSeats].flatMap((seat) => seat?.people ?? []),
    ...fallback.accounts,
    ...fallback.owners,
  ]);
  const members = membersAmong(reader, [...people]);
  const names = new Map([...members].map((account) => [account, displayNameOf(reader, account)]));
  const reachable = remembered(reader, { rule, level, members });
  const confirmed = new Set<string>();
  const ways = new Map(
    [...members].map((account) => {
      const contacts = listContacts(reader, account);
      for (const { id, state } of contacts) if (state === "verified") confirmed.add(id);
      return [account, waysOf(contacts, account, { rule, level, reachable })];
    }),
  );
  const subject = {
    projectId: rule.project_id,
    rule: rule.name,
    templateId: "",
    identifiers,
    source,
    level,
    // Nothing more is known of what its events would say.
    labelled: () => ({ labels: identifiers, varied: {}, varied_more: [] }),
  };
  const above = inhibitorOf(reader, subject, rule);
  const time = patternTimeOf(reader);
  const silences = matchingSilences(subject, { silences: silencesWithin(reader, range), time });
  return {
    ...imagined,
    seats: { isMember: (account) => members.has(account), onCall },
    seatOf,
    reachable,
    fallback,
    quietAt: (at) => decideSilenced({ silences, above }, at),
    nameOf: (account) => names.get(account) ?? null,
    waysTo: (account) => ways.get(account) ?? [],
    confirms: (contactId) => confirmed.has(contactId),
    channels: channelsOfProject(reader, rule.project_id),
  };
}

interface Of {
  rule: StoredRule;
  level: number;
}

/** Who is reached by what, looked up for all of these people now. */
function remembered(
  reader: Reader,
  { rule, level, members }: Of & { members: ReadonlySet<string> },
): Reachable {
  const asked = createReachable(reader);
  const { isKnown, hasContacts } = asked;
  const ways = new Map([...members].map((account) => [account, asked.ways(account, level)]));
  const phones = new Set(
    [...members].filter((account) => asked.hasPhone(account, rule.project_id)),
  );
  const waysTo = (account: string) => ways.get(account) ?? [];
  return {
    isKnown,
    hasContacts,
    ways: waysTo,
    reaches: (account) => waysTo(account).length > 0 || phones.has(account),
    hasPhone: (account) => phones.has(account),
  };
}

const NONE = { label: "", last_confirmed_at: null, after_seconds: 0 };

/** A person's contacts and phone, those that ring for the alert first and in order. */
function waysOf(
  all: readonly Contact[],
  account: string,
  { rule, level, reachable }: Of & { reachable: Reachable },
): SimulatedChannel[] {
  const ways = reachable.ways(account, level);
  const contacts = all.map((contact) => {
    const way = ways.find(({ contactId }) => contactId === contact.id);
    const { state, kind, label, address, verified_at, last_ok_at } = contact;
    const last = Math.max(verified_at ?? 0, last_ok_at ?? 0);
    return {
      kind,
      label: label === "" ? address : label,
      state: stateOf(state, way !== undefined),
      last_confirmed_at: last === 0 ? null : last,
      after_seconds: way?.after ?? 0,
    };
  });
  const isUsed = ({ state }: SimulatedChannel) => state === "confirmed" || state === "failing";
  const used = contacts.filter(isUsed).sort((a, b) => a.after_seconds - b.after_seconds);
  const phone = reachable.hasPhone(account, rule.project_id)
    ? [{ ...NONE, kind: "phone", state: "unconfirmed" as const }]
    : [];
  const shown = [...phone, ...used, ...contacts.filter((one) => !isUsed(one))];
  return shown.length > 0 ? shown : [{ ...NONE, kind: "none", state: "none" }];
}

function stateOf(
  state: "unverified" | "verified" | "failing" | "off",
  isUsed: boolean,
): SimulatedChannel["state"] {
  if (state === "off") return "off";
  if (!isUsed) return "none";
  return state === "failing" ? "failing" : "confirmed";
}
