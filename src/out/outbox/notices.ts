import { unixSeconds } from "../../ground/kit/clock.ts";
import { hexId } from "../../ground/kit/ids.ts";
import type { Random } from "../../ground/kit/random.ts";
import { getMeta } from "../../ground/store/meta.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import type { IntegrationRow } from "./destination.ts";
import { enqueue } from "./enqueue.ts";
import { type AlertFacts, buildEventBody } from "./event.ts";

/** Events that no alert causes: test-fires, and a channel that was disabled (contract §6). */

const INFO = 200;
const ERROR = 400;

/** Names an event: `webhook-id`, and what a receiver knows a second delivery by. */
export function eventId(random: Random): string {
  return `evt_${hexId(random)}${hexId(random)}`;
}

/** The synthetic event of a test-fire; `what` says in words what is tested. */
export function testEvent(
  reader: Reader,
  { projectId, what }: { projectId: number; what: string },
): { eventId: string; body: string; timestamp: number } {
  const id = eventId(reader.random);
  const timestamp = unixSeconds(reader.clock);
  const body = buildEventBody({
    event: "alert.test",
    event_id: id,
    alert_id: "test",
    tenant_id: tenantId(reader),
    timestamp,
    alert: facts(reader, projectId, { message: what, level: INFO, at: timestamp }),
    test: true,
  });
  return { eventId: id, body, timestamp };
}

/** The body of a digest, which no alert causes: what its rooms are told stands beside it. */
export function digestEvent(
  reader: Reader,
  { projectId, id, title, at }: { projectId: number; id: string; title: string; at: number },
): string {
  return buildEventBody({
    event: "digest",
    event_id: id,
    alert_id: "",
    tenant_id: tenantId(reader),
    timestamp: at,
    alert: facts(reader, projectId, { message: title, level: INFO, at }),
  });
}

/** Tells the project's other channels that one was disabled, in the transaction that disabled it. */
export function noticeDisabled(tx: Tx, integration: IntegrationRow, reason: string): void {
  const id = eventId(tx.random);
  const { name, type, project_id: projectId } = integration;
  const called = name === "" ? integration.id : name;
  const message = `The ${type} channel ${called} was ${reason}`;
  const body = buildEventBody({
    event: "integration.disabled",
    event_id: id,
    alert_id: "",
    tenant_id: tenantId(tx),
    timestamp: tx.at,
    alert: facts(tx, projectId, { message, level: ERROR, at: tx.at }),
    integration: { id: integration.id, name, type, reason },
  });
  enqueue(tx, {
    eventId: id,
    projectId,
    alertId: null,
    ruleId: 0,
    level: ERROR,
    event: "integration.disabled",
    timestamp: tx.at,
    body,
    actions: [],
    exceptIntegration: integration.id,
  });
}

function tenantId(reader: Reader): string {
  return String(getMeta(reader, "tenant_id"));
}

/** An event needs all fields of an alert, so that no receiver meets a body it can't read. */
function facts(
  reader: Reader,
  projectId: number,
  { message, level, at }: { message: string; level: number; at: number },
): AlertFacts {
  return {
    project:
      reader
        .sql<[projectId: number], string>("SELECT name FROM projects WHERE id = ?")
        .pluck()
        .get(projectId) ?? "",
    rule: "",
    state: "",
    template: message,
    level,
    count: 1,
    first_seen: at,
    last_seen: at,
    last_message: message,
    identifiers: {},
    investigate: false,
    escalation_level: 0,
    page_accounts: [],
  };
}
