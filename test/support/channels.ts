import { sealPlace } from "../../src/ground/store/sealed.ts";
import type { TestBox } from "./box.ts";

/** Rows of a list of deliveries. */
export interface SeenDelivery {
  id: string;
  alert_id: string;
  event: string;
  status: string;
  attempts: number;
  last_error: string | null;
  next_attempt_at: number | null;
}

/** A project whose every event opens an alert of its own, told apart by the key `k`. */
export interface TestProject {
  readonly name: string;
  fire(k: string | number): Promise<void>;
  webhook(url: string, more?: object): Promise<string>;
  deliveries(id: string): Promise<SeenDelivery[]>;
  integration(id: string): Promise<{
    enabled: boolean;
    consecutive_failures: number;
    last_error: string | null;
  }>;
  post(path: string, body?: object): Promise<number>;
}

export async function testProject(
  box: TestBox,
  name: string,
  rule: object = {},
): Promise<TestProject> {
  const token = await box.project(name);
  const base = `/v1/projects/${name}`;
  await box.api("POST", `${base}/rules`, {
    name: "any",
    identifier_keys: ["k"],
    max_open: 0,
    ...rule,
  });
  return {
    name,
    async fire(k) {
      const { body } = await box.ingest(token, { message: "it is down", keys: { k }, level: 400 });
      if (body.alerted !== true) throw new Error("no alert opened");
    },
    async webhook(url, more = {}) {
      const { body } = await box.api("POST", `${base}/integrations`, {
        type: "webhook",
        url,
        ...more,
      });
      return body.id;
    },
    deliveries: async (id) =>
      (await box.api("GET", `${base}/integrations/${id}/deliveries?limit=200`)).body.deliveries,
    integration: async (id) => (await box.api("GET", `${base}/integrations/${id}`)).body,
    post: async (path, body) => (await box.api("POST", `${base}${path}`, body)).status,
  };
}

/** Configures a hosted relay at `url` and gives the project its row, whose id this returns. */
export function configureRelay(box: TestBox, project: string, url: string): string {
  const { store, sealer } = box.tenant;
  const id = `${project}00000000000000000000`.slice(0, 16).replace(/[^0-9a-f]/g, "0");
  store.write((tx) => {
    tx.sql("INSERT OR REPLACE INTO relay (id, relay_url, sealed_secret) VALUES (1, ?, ?)").run(
      url,
      sealer.seal("relay-secret-relay-secret-relay-secret", sealPlace("relay", "sealed_secret", 1)),
    );
    tx.sql(
      `INSERT INTO integrations (id, project_id, name, type, url, enabled, event_filter, relay, created_at)
       SELECT ?, id, 'hosted-relay', 'webhook', ?, 1, 'alert.escalated,alert.opened,alert.renotified', 1, ? FROM projects WHERE name = ?`,
    ).run(id, url, tx.at, project);
  });
  return id;
}
