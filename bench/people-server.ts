import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../src/ground/kit/clock.ts";
import { testBox } from "../test/support/box.ts";

/**
 * A box of people, each with a verified contact at RECEIVER/{n} and a rule that pages them at once for events with
 * `who` = n. `node bench/people-server.ts PEOPLE RECEIVER`, or `none` for people without contacts; prints its address, an ingest token and a key.
 */
const people = Number(process.argv[2]);
const receiver = process.argv[3] ?? "";
// On the disk, which is part of what is measured.
const data = mkdtempSync(join(tmpdir(), "box-bench-"));
const box = await testBox({ data }, systemClock as never);
const token = await box.project("bench");
for (let n = 0; n < people; n++) {
  const { accountId, key } = box.person("member");
  const contact = { kind: "webhook", address: `${receiver}/${n}` };
  if (receiver !== "none") await box.api("POST", "/v1/accounts/me/contacts", contact, key);
  const made = await box.api("POST", "/v1/projects/bench/rules", {
    name: `person ${n}`,
    identifier_keys: ["n"],
    max_open: 0,
    conditions: [{ key: "who", op: "eq", value: String(n) }],
    escalations: [{ after_minutes: 0, accounts: [accountId], schedules: [], repeat_minutes: 0 }],
  });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
}
box.tenant.store.write((tx) =>
  tx.sql("UPDATE contacts SET state = 'verified', verified_at = 1").run(),
);
process.stdout.write(`${box.url} ${token} ${box.owner.key}\n`);
process.once("SIGTERM", () => void box.stop().then(() => process.exit(0)));
