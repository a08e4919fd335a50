import * as z from "zod";
import { createBuckets } from "../../ground/kit/bucket.ts";
import type { Egress } from "../../ground/kit/egress.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import type { Store, Tx } from "../../ground/store/store.ts";
import type { Credentials } from "./credentials.ts";
import { releaseDeliveries } from "./deliveries.ts";
import { endStreak } from "./delivery-record.ts";
import {
  type ChannelSender,
  findIntegration,
  type IntegrationRow,
  type Sent,
} from "./destination.ts";
import { testEvent } from "./notices.ts";
import { proveRelay, type RelayTarget } from "./relay-proof.ts";
import type { ActionRow } from "./runs.ts";
import type { ActionOutcome } from "./senders/action.ts";

interface TestFireOptions {
  store: Store;
  channels: ChannelSender;
  egress: Egress;
  /** Stores credentials that a channel learned. */
  learn(tx: Tx, integrationId: string, learned: Credentials): void;
  run(action: ActionRow, eventBody: string): Promise<ActionOutcome>;
}

/** How a try went. */
export const trialAnswer = z.object({
  ok: z.boolean(),
  status_code: z.int().nullable(),
  duration_ms: z.int(),
  error: z.string().nullable(),
  answer: z.string().meta({ description: "The first 512 characters, credentials masked." }),
});
type ChannelTrial = z.output<typeof trialAnswer>;

/** Tries of what isn't stored, by one caller within a minute. */
const MOST_TRIALS = 10;

/** Test-fires under way at one time: each may hold a socket and its caller for a minute. */
export const MOST_TESTS = 32;

/**
 * Test-fires: one attempt at once, through the very sender, signer, client and settings that real
 * deliveries and runs use, so that a green button means that pages get through.
 */
export function createTestFire(options: TestFireOptions) {
  let underWay = 0;
  const bounded = async <T>(fire: () => Promise<T>): Promise<T> => {
    if (underWay >= MOST_TESTS)
      throw new ServiceError("overloaded", "Too many test-fires are under way.", {
        retryAfter: 10,
      });
    underWay++;
    try {
      return await fire();
    } finally {
      underWay--;
    }
  };
  const trials = createBuckets(options.store.clock, {
    rate: MOST_TRIALS / 60,
    burst: MOST_TRIALS,
  });
  return {
    /**
     * One that isn't stored, nor anything of it. `by`: whose try it is. Throws 429 after ten within a minute, 503 where no
     * sender is here.
     */
    trial(row: IntegrationRow, by: string): Promise<ChannelTrial> {
      const { allowed, retryAfter } = trials.take(by);
      if (allowed) return bounded(() => tryIntegration(options, row));
      const message = `At most ${MOST_TRIALS} are tried in a minute.`;
      throw new ServiceError("rate_limited", message, { retryAfter });
    },
    /** Throws 409 where it is disabled, 503 where no sender is here. One that passes ends the endpoint's streak. */
    integration: (row: IntegrationRow) => bounded(() => testIntegration(options, row)),
    /** Throws 409 where it is disabled. Leaves one terminal execution row (contract §15, Actions). */
    action: (row: ActionRow) => bounded(() => testAction(options, row)),
    /** Throws 422 relay_not_proved unless the relay takes a signed test. Stores nothing. */
    relay: (target: RelayTarget) =>
      bounded(() => proveRelay({ reader: options.store, egress: options.egress }, target)),
  };
}

/** One `alert.test` through the sender of real deliveries. Throws 503 where there is none. */
async function fire({ store, channels }: TestFireOptions, row: IntegrationRow): Promise<Sent> {
  if (!channels.canTest(row.type))
    throw new ServiceError(
      "sender_unavailable",
      "This channel has no sender here: a box's pushes are sent by the hosted service.",
    );
  const what = `This is a test of the ${row.type} channel ${row.name}`.trimEnd();
  const { eventId, body, timestamp } = testEvent(store, { projectId: row.project_id, what });
  const message = { eventId, event: "alert.test", body, said: null, signedAt: timestamp };
  return channels.send(row, message);
}

async function tryIntegration(
  options: TestFireOptions,
  row: IntegrationRow,
): Promise<ChannelTrial> {
  const { verdict, tried } = await fire(options, row);
  const { status_code = null, duration_ms = 0, answer = "" } = tried ?? {};
  const error = verdict.kind === "delivered" ? null : verdict.error;
  return { ok: error === null, status_code, duration_ms, error, answer };
}

async function testIntegration(
  options: TestFireOptions,
  row: IntegrationRow,
): Promise<{ ok: boolean; error?: string }> {
  const { store, learn } = options;
  if (row.enabled === 0)
    throw new ServiceError("integration_disabled", "The integration is disabled: enable it first.");
  const sent = await fire(options, row);
  const error = sent.verdict.kind === "delivered" ? null : sent.verdict.error;
  store.write((tx) => {
    if (sent.learned !== undefined) learn(tx, row.id, sent.learned);
    if (error === null) passed(tx, row.id);
    else failed(tx, row.id, error);
  });
  return error === null ? { ok: true } : { ok: false, error };
}

/** It works, whatever was before: its streak is over, and what waits needn't wait for its own next try. */
function passed(tx: Tx, id: string): void {
  const row = findIntegration(tx, id);
  if (row === null || row.enabled === 0) return;
  const wasFailing = row.consecutive_failures > 0;
  endStreak(tx, id);
  if (wasFailing) {
    releaseDeliveries(tx, id);
    tx.note({ topic: "endpoint", id, well: true });
  } else tx.note({ topic: "attempted", id });
}

/** Shows where the channel stands, until the next attempt says otherwise; a streak stays as it is. */
function failed(tx: Tx, id: string, error: string): void {
  tx.sql<[error: string, id: string]>(
    "UPDATE integrations SET last_error = ? WHERE id = ? AND consecutive_failures = 0 AND enabled = 1",
  ).run(error, id);
  tx.note({ topic: "attempted", id });
}

async function testAction(
  { store, run }: TestFireOptions,
  row: ActionRow,
): Promise<{ ok: boolean; status_code: number; error?: string }> {
  if (row.enabled === 0)
    throw new ServiceError("action_disabled", "The action is disabled: enable it first.");
  const what = `This is a test of the action ${row.name}`;
  const { body, timestamp } = testEvent(store, { projectId: row.project_id, what });
  const outcome = await run(row, body);
  const { kind } = outcome.verdict;
  const status = kind === "delivered" ? "succeeded" : kind === "timed_out" ? "timed_out" : "failed";
  store.write((tx) =>
    tx
      .sql<[string, string, number | null, number, string, string, number, number, number]>(
        `INSERT INTO executions (action_id, project_id, event, status, attempts, status_code, duration_ms, response_prefix, error, executed_at, created_at)
         SELECT ?, id, 'alert.test', ?, 1, ?, ?, ?, ?, ?, ? FROM projects WHERE id = ?`,
      )
      .run(
        row.id,
        status,
        outcome.statusCode,
        Math.round(outcome.durationMs),
        outcome.responsePrefix,
        outcome.error,
        tx.at,
        timestamp,
        row.project_id,
      ),
  );
  return {
    ok: status === "succeeded",
    status_code: outcome.statusCode ?? 0,
    ...(outcome.error === "" ? {} : { error: outcome.error }),
  };
}
