import { writeLateTimeline as tell } from "../alerts/timeline.ts";
import type { Settings } from "../channels/channel.ts";
import type { ChannelList } from "../channels/list.ts";
import { createSender, type SenderOptions } from "../channels/send.ts";
import type { Egress, EgressClient } from "../kit/egress.ts";
import type { Log } from "../kit/log.ts";
import type { Sealer } from "../kit/sealer.ts";
import { type Credentials, learnCredentials } from "../outbox/credentials.ts";
import { deliveryQueue } from "../outbox/deliveries.ts";
import { createDispatcher, type Dispatcher } from "../outbox/dispatcher.ts";
import { executionQueue } from "../outbox/executions.ts";
import { noticeDisabled } from "../outbox/notices.ts";
import { BREAKER_LIMITS, type BreakerLimits } from "../outbox/retry.ts";
import { expireDeliveries } from "../outbox/rows.ts";
import { type ActionRow, runAction } from "../outbox/runs.ts";
import { createTestFire, MOST_TESTS, type TestFire } from "../outbox/test-fire.ts";
import { changeConfig } from "../projects/projects.ts";
import type { Note, Store, Tx } from "../store/store.ts";
import type { Job } from "./scheduler.ts";

/** How what leaves is sent: the settings of a role or of the operator. */
export interface OutboxSettings {
  /** What the operator set for kinds of channel, by name; the others have their usual value. */
  channels?: Settings;
  breaker?: BreakerLimits;
  /** Most attempts under way at one time. */
  sockets?: number;
  /** Pushes for apns rows; absent on a box, whose pushes the hosted service sends. */
  push?: NonNullable<SenderOptions["push"]>;
}

/** Everything that leaves one tenant: deliveries, executions and test-fires. */
export interface Outbox {
  readonly deliveries: Dispatcher;
  readonly executions: Dispatcher;
  readonly testFire: TestFire;
  readonly jobs: readonly Job[];
  /** What was committed: says which endpoints have something to send. */
  told(notes: readonly Note[]): void;
  /** Starts nothing more, and gives what is under way a moment to end and be written. */
  stop(): Promise<void>;
}

export interface OutboxDeps {
  store: Store;
  log: Log;
  sealer: Sealer;
  /** Deliveries, actions and test-fires each have a share of it: none keeps another waiting. */
  egress: EgressClient;
  channels: ChannelList;
  /** Where people see the box; may be empty. */
  publicUrl: string;
  settings: OutboxSettings;
  /** Runs the named job soon. */
  wake(job: string): void;
}

/** Most deliveries under way at one time. */
const SOCKETS = 512;
const ACTION_SOCKETS = 64;
/** What hasn't answered by then is sent again after the start: at least once. */
const GRACE_MS = 3000;
const EXPIRE_MS = 60_000;

export function createOutbox(deps: OutboxDeps): Outbox {
  const { store, log, sealer, settings } = deps;
  const sockets = settings.sockets ?? SOCKETS;
  // As many connections and origins as may be under way: none waits for one while its time runs.
  const wayOut = (most: number) => deps.egress.share({ connections: most, maxOrigins: most });
  const [paging, acting, testing] = [
    wayOut(sockets),
    wayOut(ACTION_SOCKETS),
    wayOut(MOST_TESTS),
  ] as const;
  const channelsBy = (egress: Egress) =>
    createSender({
      ...{ store, log, sealer, egress, channels: deps.channels, publicUrl: deps.publicUrl },
      settings: settings.channels ?? {},
      ...(settings.push && { push: settings.push }),
    });
  const runBy = (egress: Egress) => (action: ActionRow, eventBody: string) =>
    runAction({ egress, sealer }, action, eventBody);
  const learn = (tx: Tx, integrationId: string, learned: Credentials) =>
    learnCredentials(tx, sealer, { integrationId, learned });

  const deliveries = createDispatcher({
    ...{ store, log, sockets },
    queue: deliveryQueue({
      ...{ store, tell, learn },
      breaker: settings.breaker ?? BREAKER_LIMITS,
      send: channelsBy(paging).send,
      disabled(tx, integration, why) {
        const { id, name, type, project_id: projectId } = integration;
        log.error(
          { integration: id, name, type, project: projectId, why },
          "a channel was disabled",
        );
        changeConfig(tx, projectId);
        noticeDisabled(tx, integration, why);
      },
    }),
    wake: () => deps.wake("deliveries"),
  });
  const executions = createDispatcher({
    ...{ store, log, sockets: ACTION_SOCKETS },
    queue: executionQueue({ store, tell, run: runBy(acting) }),
    wake: () => deps.wake("executions"),
  });

  return {
    deliveries,
    executions,
    testFire: createTestFire({
      ...{ store, egress: testing, channels: channelsBy(testing), run: runBy(testing), learn },
    }),
    jobs: [
      { name: "deliveries", wokenBy: ["endpoint", "outbox"], run: () => deliveries.run() },
      { name: "executions", wokenBy: ["action", "outbox"], run: () => executions.run() },
      expireJob(store),
    ],
    told(notes) {
      for (const note of notes) {
        if (note.topic === "endpoint") deliveries[note.well ? "revive" : "touch"](note.id);
        else if (note.topic === "action") executions.touch(note.id);
        else if (note.topic === "outbox") {
          deliveries.touchAll();
          executions.touchAll();
        }
      }
    },
    async stop() {
      await Promise.all([deliveries.stop(GRACE_MS), executions.stop(GRACE_MS)]);
    },
  };
}

/** Gives up what is older than 24 hours, wherever it waits. */
function expireJob(store: Store): Job {
  return {
    name: "expire",
    run() {
      const waiting = store
        .sql<[]>("SELECT 1 FROM deliveries WHERE status = 'pending' LIMIT 1")
        .get();
      const more = waiting !== undefined && store.write((tx) => expireDeliveries(tx, tell));
      return store.clock.now() + (more ? 0 : EXPIRE_MS);
    },
  };
}
