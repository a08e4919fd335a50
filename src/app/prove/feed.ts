import { type Clock, sleep } from "../../ground/kit/clock.ts";
import type { Api, ApiReply } from "./api.ts";
import { createClimber } from "./climb.ts";
import { createRevoker, type Pushed } from "./devices.ts";
import type { Outcome, RunEvidence, SeenAlert, SentEvent } from "./evidence.ts";
import { createNamer, NAMED_SENDERS } from "./names.ts";
import type { Receivers } from "./receiver.ts";
import { type Seeded, seeded } from "./seeded.ts";
import { createSilencer, quietUntil } from "./silences.ts";
import {
  climbSetting,
  namedSetting,
  type ProjectTokens,
  quietSetting,
  settings,
  type WorldSetting,
} from "./world.ts";
import { createWorsener } from "./worsen.ts";

/** Sends events and operations without pause while the box is up. Each is entered in the ledger before it is sent. */
export type Feed = ReturnType<typeof startFeed>;

interface FeedOptions {
  clock: Clock;
  seed: number;
  api: Api;
  tokens: ProjectTokens;
  receivers: Receivers;
  /** The person whose browsers come and go. */
  pushed: Pushed;
  owner: string;
  /** The owner's contact for what is critical. */
  critical: string;
  ledger: Pick<
    RunEvidence,
    | "events"
    | "verbs"
    | "words"
    | "hushes"
    | "rings"
    | "rises"
    | "climbs"
    | "pressed"
    | "devices"
    | "oddAnswers"
  >;
}

const SENDERS = 4;
const MOST_LINES = 25;
const PAUSE_MS = [2, 25] as const;
const LARGE = 6000;
/** On a busy machine the box may be killed after a few events, which would prove nothing. */
const ENOUGH = { events: 100, firings: 10, ends: 3, quiet: 2, revoked: 1, paging: 1, climbs: 4 };
const ENOUGH_MS = 30_000;

export function startFeed(options: FeedOptions) {
  const { clock, seed, api, tokens, ledger } = options;
  let gate = Promise.withResolvers<void>();
  let isOpen = false;
  let stopped = false;
  let large = false;
  let accepted: (() => void) | null = null;

  const sendSome = async (choice: Seeded) => {
    const setting = choice.pick(settings);
    const size = choice.chance(0.6) ? 1 : choice.between(2, MOST_LINES);
    const sent = Array.from({ length: size }, (): SentEvent => {
      const event: SentEvent = {
        n: ledger.events.length,
        project: setting.name,
        outcome: "unknown",
      };
      ledger.events.push(event);
      return event;
    });
    const texts = sent.map((event) => eventText(event.n, setting, { choice, large }));
    const isOne = size === 1;
    // An invalid line must not affect the lines beside it.
    const body = isOne || choice.chance(0.9) ? texts : [...texts, "{not json"];
    const reply = await api
      .send("/v1/ingest", {
        bearer: tokens[setting.name] ?? "",
        type: isOne ? "application/json" : "application/x-ndjson",
        body: body.join("\n"),
      })
      .catch(() => null);
    const outcome = outcomeOf(reply, size, ledger.oddAnswers);
    for (const event of sent) event.outcome = outcome;
    if (outcome !== "accepted") return;
    const told = accepted;
    accepted = null;
    told?.();
  };

  /** One loop of the feed, which sends while the box is up. */
  const loop = async (choice: Seeded, work: (choice: Seeded) => Promise<void>) => {
    for (;;) {
      await gate.promise;
      if (stopped) return;
      await work(choice).catch(() => {});
      await sleep(clock, choice.between(...PAUSE_MS));
    }
  };

  const verbs = createVerbs(api, ledger);
  const token = tokens[namedSetting.name] ?? "";
  const { receivers, pushed: person, critical } = options;
  const quietly = { api, clock, ledger, token: tokens[quietSetting.name] ?? "" };
  const silencer = createSilencer(quietly);
  const worsener = createWorsener({ ...quietly, told: receivers.told, critical });
  const climbToken = tokens[climbSetting.name] ?? "";
  const climber = createClimber({ ...quietly, token: climbToken, owner: options.owner });
  const revoker = createRevoker({ api, clock, receivers, person, ledger });
  const loops = [
    ...Array.from({ length: SENDERS }, (_, i) => loop(seeded(seed, `sender ${i}`), sendSome)),
    ...Array.from({ length: NAMED_SENDERS }, (_, i) =>
      loop(seeded(seed, `named ${i}`), createNamer({ api, clock, token, words: ledger.words }, i)),
    ),
    loop(seeded(seed, "verbs"), verbs),
    loop(seeded(seed, "silencer"), silencer),
    loop(seeded(seed, "worsener"), worsener),
    loop(seeded(seed, "climber"), climber),
    loop(seeded(seed, "revoker"), revoker),
  ];

  return {
    /** The box is up: starts sending. */
    open() {
      isOpen = true;
      gate.resolve();
    },
    /** The box is down: starts nothing more. */
    shut() {
      if (isOpen) gate = Promise.withResolvers();
      isOpen = false;
    },
    /** Calls `fn` once, at the next 202. */
    onAccepted(fn: () => void) {
      accepted = fn;
    },
    /** Sends larger messages from now on, so that the log is soon moved into the database. */
    swell(value: boolean) {
      large = value;
    },
    /**
     * Sends on until every promise has enough answered requests to be tested, for half a minute at most. Then ends, and
     * waits for requests under way.
     */
    async stop() {
      const from = clock.mono();
      while (!isEnough(ledger) && clock.mono() - from < ENOUGH_MS) await sleep(clock, 20);
      stopped = true;
      gate.resolve();
      await Promise.all(loops);
      const left = quietUntil(ledger) * 1000 - clock.now();
      if (left > 0) await sleep(clock, left);
    },
  };
}

function isEnough({
  events,
  words,
  verbs,
  hushes,
  rings,
  rises,
  climbs,
  pressed,
  devices,
}: FeedOptions["ledger"]): boolean {
  const answered = words.filter(({ outcome }) => outcome === "accepted");
  const ends = answered.filter(({ status }) => status === "resolved").length;
  return (
    verbs.some(({ verb }) => verb === "resolve") &&
    events.filter(({ outcome }) => outcome === "accepted").length >= ENOUGH.events &&
    ends >= ENOUGH.ends &&
    devices.filter(({ revokedAt }) => revokedAt !== null).length >= ENOUGH.revoked &&
    Math.min(hushes.length, rings.length) >= ENOUGH.quiet &&
    Math.min(rises.length, pressed.length) >= ENOUGH.paging &&
    climbs.length >= ENOUGH.climbs &&
    answered.length - ends >= ENOUGH.firings
  );
}

function eventText(
  n: number,
  setting: WorldSetting,
  { choice, large }: { choice: Seeded; large: boolean },
): string {
  const host = `h${choice.between(1, setting.hosts)}`;
  const filling = large ? ` ${"x".repeat(choice.between(LARGE / 2, LARGE))}` : "";
  return JSON.stringify({
    message: `${setting.name} request ${n} failed${filling}`,
    level: choice.pick([200, 300, 400, 500]),
    keys: { host, n },
  });
}

/** The number that `eventText` put into a message; null for a message of another origin. */
export function numberOf(message: string): number | null {
  const found = /^\w+ request (\d+) failed/.exec(message);
  return found === null ? null : Number(found[1]);
}

function outcomeOf(reply: ApiReply | null, size: number, odd: string[]): Outcome {
  if (reply === null) return "unknown";
  if (reply.status >= 500) {
    odd.push(`POST /v1/ingest was answered ${reply.status}: ${reply.body.slice(0, 200)}`);
    return "unknown";
  }
  if (reply.status !== 202) return "refused";
  const { accepted = 1 } = JSON.parse(reply.body) as { accepted?: number };
  if (accepted !== size) odd.push(`${size} good lines, ${accepted} accepted`);
  return "accepted";
}

/** Acknowledges and resolves alerts as they open, so that new ones can open. */
function createVerbs(api: Api, ledger: FeedOptions["ledger"]): (choice: Seeded) => Promise<void> {
  const quiet = [quietSetting, climbSetting].map(({ name }) => name);
  const open: string[] = [];
  let cursor = 0;
  return async (choice) => {
    if (open.length < 4) {
      const pulled = await api.need("GET", `/v1/pull?cursor=${cursor}`);
      cursor = Number(pulled["cursor"]);
      // Only its sender may end a named alert; an end by a person would hold the next firing back.
      for (const { id, dedup_key, project } of pulled["alerts"] as SeenAlert[])
        if (dedup_key === null && !quiet.includes(project)) open.push(id);
    }
    const [alertId] = open.splice(choice.between(0, Math.max(0, open.length - 1)), 1);
    if (alertId === undefined) return;
    const chosen = choice.pick([["ack"], ["ack", "resolve"], ["resolve"], ["resolve"]] as const);
    for (const verb of chosen) {
      const reply = await api.call("POST", `/v1/alerts/${alertId}/${verb}`);
      if (reply.status === 200) ledger.verbs.push({ verb, alertId });
      else ledger.oddAnswers.push(`${verb} of alert ${alertId} was answered ${reply.status}`);
    }
  };
}
