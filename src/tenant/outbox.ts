import { losePushes, nobodyGotIt } from "../core/alerts/fallback.ts";
import { holdPages, isSilenced } from "../core/alerts/page-hold.ts";
import { forgetReachable } from "../core/alerts/personal.ts";
import { writeLateTimeline as tell } from "../core/alerts/timeline.ts";
import { findCheckedShift } from "../core/oncall/shift-checks.ts";
import { changeConfig } from "../core/projects/projects.ts";
import { unixSeconds } from "../ground/kit/clock.ts";
import type { Egress, EgressClient } from "../ground/kit/egress.ts";
import { ServiceError } from "../ground/kit/errors.ts";
import type { Log } from "../ground/kit/log.ts";
import type { Sealer } from "../ground/kit/sealer.ts";
import { mayTell } from "../ground/store/durable.ts";
import type { Note, Store, Tx } from "../ground/store/store.ts";
import { hearsBot } from "../out/contacts/known.ts";
import { type Credentials, learnCredentials } from "../out/outbox/credentials.ts";
import { deliveryQueue } from "../out/outbox/deliveries.ts";
import type { Sent } from "../out/outbox/destination.ts";
import { createDispatcher } from "../out/outbox/dispatcher.ts";
import { executionQueue } from "../out/outbox/executions.ts";
import { noticeDisabled } from "../out/outbox/notices.ts";
import { rememberPushes } from "../out/outbox/phones.ts";
import { BREAKER_LIMITS, type BreakerLimits } from "../out/outbox/retry.ts";
import { expireDeliveries } from "../out/outbox/rows.ts";
import { type ActionRow, runAction } from "../out/outbox/runs.ts";
import { tellStorms } from "../out/outbox/storms.ts";
import { createTestFire, MOST_TESTS } from "../out/outbox/test-fire.ts";
import { expirePages, type PageOutcomes } from "../out/paging/lost.ts";
import { anyHope } from "../out/paging/pages.ts";
import { pageQueue } from "../out/paging/queue.ts";
import type { ShiftFacts } from "../out/paging/say.ts";
import { createContactSender } from "../out/paging/send.ts";
import type { Settings } from "../out/services/channel.ts";
import type { GatewayKind } from "../out/services/contact-kind.ts";
import type { ChannelList } from "../out/services/list.ts";
import { createSender, type SenderOptions } from "../out/services/send.ts";
import { clockOfPerson } from "../people/reader-clock.ts";
import type { Job } from "./scheduler.ts";

/** Settings for sending, of the role or the operator. */
export interface OutboxSettings {
  /** Settings of kinds of channel, by name. Missing ones have their defaults. */
  channels?: Settings;
  breaker?: BreakerLimits;
  /** Most attempts under way at one time. */
  sockets?: number;
  /** Sends pushes of apns rows. Missing on a box, whose pushes the hosted service sends. */
  push?: NonNullable<SenderOptions["push"]>;
}

/** Everything that leaves one tenant: deliveries, executions and tests. */
export type Outbox = ReturnType<typeof createOutbox>;

interface OutboxDeps {
  store: Store;
  log: Log;
  sealer: Sealer;
  /** Deliveries, actions and tests each have a share of it, so none delays another. */
  egress: EgressClient;
  channels: ChannelList;
  /** The box's address for people; may be empty. */
  publicUrl: string;
  /** Whether the service has other tenants. */
  oneOfMany: boolean;
  settings: OutboxSettings;
  /** Runs the named job soon. */
  wake(job: string): void;
}

/** Most deliveries under way at one time. */
const SOCKETS = 512;
const ACTION_SOCKETS = 64;
const PAGE_SOCKETS = 128;
/** An attempt without an answer by then is sent again after the next start: at least once. */
const GRACE_MS = 3_000;
/** Where another machine waits to serve the box, which would send it again. */
const AWAITED_GRACE_MS = 1_000;
const EXPIRE_MS = 60_000;

export function createOutbox(deps: OutboxDeps) {
  const { store, log, sealer, settings } = deps;
  rememberPushes(store, settings.push !== undefined);
  const sockets = settings.sockets ?? SOCKETS;
  const breaker = settings.breaker ?? BREAKER_LIMITS;
  // As many connections and origins as attempts, so that no attempt waits for one while its time runs.
  const wayOut = (most: number) => deps.egress.share({ connections: most, maxOrigins: most });
  const [paging, personal, acting, testing] = [
    wayOut(sockets),
    wayOut(PAGE_SOCKETS),
    wayOut(ACTION_SOCKETS),
    wayOut(MOST_TESTS),
  ] as const;
  const channelsBy = (egress: Egress) =>
    createSender({
      store,
      log,
      sealer,
      egress,
      channels: deps.channels,
      publicUrl: deps.publicUrl,
      settings: settings.channels ?? {},
      ...(settings.push && { push: heldPush(store, settings.push) }),
      hears: (bot) => hearsBot(store, sealer, bot),
    });
  const runBy = (egress: Egress) => (action: ActionRow, eventBody: string) =>
    runAction({ egress, sealer }, action, eventBody);
  const learn = (tx: Tx, integrationId: string, learned: Credentials) =>
    learnCredentials(tx, sealer, { integrationId, learned });

  const deliveries = createDispatcher({
    store,
    log,
    sockets,
    queue: deliveryQueue({
      store,
      tell,
      learn,
      breaker,
      send: channelsBy(paging).send,
      noPhone(tx, of) {
        forgetReachable(tx);
        if (!anyHope(tx, of)) nobodyGotIt(tx, of.alertId);
      },
      disabled(tx, integration, why) {
        const { id, name, type, project_id: projectId } = integration;
        log.error(
          { integration: id, name, type, project: projectId, why },
          "a channel was disabled",
        );
        changeConfig(tx, projectId);
        noticeDisabled(tx, integration, why);
        losePushes(tx, () => {});
      },
    }),
    wake: () => deps.wake("deliveries"),
  });
  const contactsBy = (egress: Egress) =>
    createContactSender({
      store,
      log,
      sealer,
      egress,
      publicUrl: deps.publicUrl,
      oneOfMany: deps.oneOfMany,
    });
  const pageOptions = { sealer, tell, unreached: nobodyGotIt, hold: holdPages };
  const pages = createDispatcher({
    store,
    log,
    sockets: PAGE_SOCKETS,
    queue: pageQueue({
      ...pageOptions,
      store,
      sender: contactsBy(personal),
      publicUrl: deps.publicUrl,
      oneOfMany: deps.oneOfMany,
      isQuiet: (alertId) => isSilenced(store, alertId, unixSeconds(store.clock)),
      shift: (check) => shiftFactsOf(store, check),
    }),
    wake: () => deps.wake("pages"),
  });
  const executions = createDispatcher({
    store,
    log,
    sockets: ACTION_SOCKETS,
    queue: executionQueue({ store, tell, run: runBy(acting) }),
    wake: () => deps.wake("executions"),
  });

  const rooms = channelsBy(testing);

  return {
    deliveries,
    executions,
    /** Pages to people's own contacts. */
    pages,
    /** When a failing channel is turned off. */
    breaker,
    /** Sends codes and tests to contacts at once. */
    contacts: contactsBy(testing),
    /** Sends to a channel what no event of an alert causes. */
    rooms,
    /** Sends a harmless request to a gateway. Never throws. */
    async proveGateway(kind: GatewayKind, settings: Credentials): Promise<Sent> {
      try {
        return await kind.prove({ gateway: settings, egress: testing, now: store.clock.now() });
      } catch (error) {
        log.error({ err: error, gateway: kind.kind }, "a gateway could not be called");
        return { verdict: { kind: "later", error: "could not be called: see the log" } };
      }
    },
    testFire: createTestFire({
      store,
      egress: testing,
      channels: rooms,
      run: runBy(testing),
      learn,
    }),
    jobs: [
      { name: "deliveries", wokenBy: ["endpoint", "outbox"], run: () => deliveries.run() },
      { name: "executions", wokenBy: ["action", "outbox"], run: () => executions.run() },
      { name: "pages", wokenBy: ["contact", "outbox"], run: () => pages.run() },
      { name: "storms", wokenBy: ["storms", "outbox"], run: () => tellStorms(store, tell) },
      expireJob(store, pageOptions),
    ] satisfies Job[],
    /** Gets a commit's notes, which name the endpoints that have something to send. */
    told(notes: readonly Note[]) {
      for (const note of notes) {
        if (note.topic === "endpoint") deliveries[note.well ? "revive" : "touch"](note.id);
        else if (note.topic === "action") executions.touch(note.id);
        else if (note.topic === "contact") pages.touch(note.id);
        else if (note.topic === "outbox") {
          deliveries.touchAll();
          executions.touchAll();
          pages.touchAll();
        }
      }
    },
    /** Starts nothing more, and gives attempts under way a short time to end and be recorded; `isAwaited`: a shorter one. */
    async stop(isAwaited: boolean) {
      const graceMs = isAwaited ? AWAITED_GRACE_MS : GRACE_MS;
      await Promise.all([deliveries, executions, pages].map((each) => each.stop(graceMs)));
    },
  };
}

type Push = NonNullable<OutboxSettings["push"]>;

/** Nothing is pushed before it is durable. */
function heldPush(store: Store, push: Push): Push {
  return async (integration, message) => {
    try {
      await mayTell(store);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const wait = { retryAfterMs: (error.retryAfter ?? 0) * 1000 };
      return { verdict: { kind: "later", error: "not durable yet", ...wait }, ours: true };
    }
    return push(integration, message);
  };
}

function shiftFactsOf(store: Store, check: number): ShiftFacts | null {
  const found = findCheckedShift(store, check);
  if (found === null) return null;
  const { accountId, project, projectId, schedule, timezone, startsAt, endsAt } = found;
  return {
    id: `${projectId}-${schedule}`,
    schedule: `${project} / ${schedule}`,
    clock: clockOfPerson(store, accountId, timezone),
    startsAt,
    endsAt,
    now: unixSeconds(store.clock),
  };
}

/** Gives up deliveries older than 24 hours and pages older than an hour. */
function expireJob(store: Store, pages: PageOutcomes): Job {
  const waits = (table: "deliveries" | "pages") =>
    store.sql<[]>(`SELECT 1 FROM ${table} WHERE status = 'pending' LIMIT 1`).get() !== undefined;
  return {
    name: "expire",
    run() {
      const more = waits("deliveries") && store.write((tx) => expireDeliveries(tx, tell));
      const morePages = waits("pages") && store.write((tx) => expirePages(tx, pages));
      return store.clock.now() + (more || morePages ? 0 : EXPIRE_MS);
    },
  };
}
