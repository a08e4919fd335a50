import type { Reader } from "../../ground/store/store.ts";
import { errorWords } from "../../out/outbox/error-words.ts";
import { contactKindList } from "../../out/services/list.ts";
import type { HealthCheck } from "../../tenant/health.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";
import { gauge, type Metric } from "./metrics.ts";
import { contactsByAccount, contactWords, isUsable, type SeenContact } from "./reach-people.ts";

/** Checks of people's contacts, and of the gateways behind them. */

interface FailingGateway {
  kind: string;
  error: string;
}

type Ailing = ReturnType<typeof look>;

const GATEWAYS =
  "SELECT id AS kind, last_error AS error FROM gateways WHERE last_error IS NOT NULL ORDER BY id";
const EMAILS = "SELECT id, email FROM accounts ORDER BY email_folded";

function look(reader: Reader) {
  const contacts = contactsByAccount(reader);
  const emails = reader.sql<[], [id: string, email: string]>(EMAILS).raw().all();
  return {
    gateways: reader.sql<[], FailingGateway>(GATEWAYS).all(),
    people: emails.flatMap(([id, email]) => {
      const own = contacts.get(id);
      return own === undefined ? [] : [{ email, contacts: own }];
    }),
  };
}

/** Whether all usable contacts of a person fail. */
const onlyFails = ({ contacts }: { contacts: readonly SeenContact[] }): boolean => {
  const on = contacts.filter(isUsable);
  return on.length > 0 && on.every(({ state }) => state === "failing");
};

const failing = (contacts: readonly SeenContact[]): string =>
  contacts
    .filter(({ state }) => state === "failing")
    .map(
      (one) => `${contactWords(one)} fails: ${errorWords(one.last_error ?? "no reason was noted")}`,
    )
    .join(", ");

const reachedByNothing = ({ email, contacts }: Ailing["people"][number]): string =>
  `${email} has no contact that works: ${failing(contacts)}`;

/** The doctor's findings: each contact by name. */
export function contactFindings(reader: Reader): Finding[] {
  const { gateways, people } = look(reader);
  const found = [
    ...gateways.map(gatewayFinding),
    ...people.flatMap((person): Finding[] => [...failingFinding(person), ...unverified(person)]),
  ];
  if (found.length > 0) return found.slice(0, MOST_FINDINGS);
  const on = people.map(({ contacts }) => contacts.filter(isUsable).length).filter((n) => n > 0);
  const all = on.reduce((sum, n) => sum + n, 0);
  if (all === 0)
    return [
      note(
        "contacts",
        "nobody has one: the box itself can page no person",
        "box quickstart, or box contact add KIND ADDRESS",
      ),
    ];
  const contacts = all === 1 ? "1 verified contact" : `${all} verified contacts`;
  return [ok("contacts", `${contacts} of ${personCount(on.length)}, all well`)];
}

const MOST_FINDINGS = 50;

const personCount = (n: number): string => (n === 1 ? "1 person" : `${n} people`);

function gatewayFinding({ kind, error }: FailingGateway): Finding {
  const serves = contactKindList.kinds.filter((one) => one.gateway?.kind === kind);
  return wrong(
    "contacts",
    `gateway ${kind}: its latest request failed: ${errorWords(error)}`,
    `pages by ${serves.map((one) => one.kind).join(" and ")} go through it: box gateway set ${kind} tries it`,
  );
}

function failingFinding(person: Ailing["people"][number]): Finding[] {
  const { email, contacts } = person;
  const said = failing(contacts);
  if (said === "") return [];
  const advice = `box contact test CONTACT --person ${email} tests it; waiting pages are tried again`;
  return onlyFails(person)
    ? [wrong("contacts", reachedByNothing(person), advice)]
    : [note("contacts", `${email}'s ${said}`, advice)];
}

function unverified({ email, contacts }: Ailing["people"][number]): Finding[] {
  if (contacts.some(({ state }) => state !== "unverified")) return [];
  const names = contacts.map(contactWords).join(", ");
  return [
    note(
      "contacts",
      `${email} has not verified ${names}, and has no other contact`,
      "box contact verify CONTACT sends a code",
    ),
  ];
}

/** Readiness is public, so `detail` only counts people; `named` has their names. */
export function contactCheck(reader: Reader): HealthCheck {
  const { gateways, people } = look(reader);
  const lost = people.filter(onlyFails);
  const base = { name: "contacts", severity: "degraded" as const };
  const broken = gateways.map(({ kind, error }) => `gateway ${kind} fails (${errorWords(error)})`);
  if (broken.length + lost.length === 0)
    return { ...base, ok: true, detail: "nobody has only failing contacts, and no gateway fails" };
  const count =
    lost.length === 0
      ? []
      : [
          `${personCount(lost.length)} ${lost.length === 1 ? "has" : "have"} only contacts that fail`,
        ];
  const named = lost.slice(0, MOST_NAMED).map(reachedByNothing);
  return {
    ...base,
    ok: false,
    detail: [...broken, ...count].join("; "),
    named: [...broken, ...named].join("; "),
  };
}

const MOST_NAMED = 10;
const STATES = ["unverified", "verified", "failing", "off"] as const;

export function contactMetrics(reader: Reader): Metric[] {
  const counts = new Map(
    reader
      .sql<[], [state: string, n: number]>("SELECT state, count(*) FROM contacts GROUP BY state")
      .raw()
      .all(),
  );
  return [
    gauge(
      "box_contacts",
      "People's contacts by state.",
      STATES.map((state) => ({ labels: { state }, value: counts.get(state) ?? 0 })),
    ),
    gauge("box_gateways_failing", "Gateways of contacts whose latest request failed.", [
      { labels: {}, value: reader.sql<[]>(GATEWAYS).all().length },
    ]),
  ];
}
