import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { AlertRow } from "../../../src/core/alerts/alert.ts";
import { type ReachEntry, reachReason } from "../../../src/core/alerts/reach-report.ts";
import type { NumberedEntry } from "../../../src/core/alerts/timeline.ts";
import { entryWords, groupedEntries } from "../../../src/web/console/alert/history.ts";
import { lookOf } from "../../../src/web/console/display.ts";
import type { PageCall } from "../../../src/web/console/screen.ts";
import { nth } from "../../../src/web/console/ui/pieces.ts";
import { reachWords } from "../../../src/web/console/ui/reach-words.ts";
import { rungRow } from "../../../src/web/console/ui/rung-rows.ts";

const NOW = Date.UTC(2026, 0, 5, 9) / 1000;
const call: Pick<PageCall, "now" | "look" | "base" | "leads" | "who"> = {
  now: NOW,
  base: "",
  leads: () => true,
  look: lookOf({ zone: "UTC" }),
  who: { accountId: "me", role: "member", name: "Me", email: "me@example.org", sessionId: "s" },
};
const nameOf = (id: string) => ({ ann: "Ann", bob: "Bob", me: "Me" })[id] ?? id;
const about = { project: "shop", rule: "errors", nameOf };
const plain = (markup: string) =>
  markup
    .replace(/<[^>]*>/g, "")
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'");

const NOTHING: ReachEntry = {
  account_id: "ann",
  integration_id: null,
  name: "Ann",
  reason: "shown",
  via: "ntfy",
  address: "Pixel",
  event: "alert.escalated",
  outcome: null,
  step: 2,
  due_at: NOW + 192,
  at: NOW - 3600,
  attempts: 1,
  error: null,
  together: 1,
  by: null,
  until: null,
  after: null,
};

/** What is said of each reason, and where the link beside it leads. */
const SAID: Record<ReachEntry["reason"], [more: Partial<ReachEntry>, words: string, to: string]> = {
  shown: [{ outcome: "shown", after: 5 }, "shown 08:00 (5 s)", ""],
  accepted_not_confirmed: [{}, "sent 08:00, not seen yet", ""],
  delivered: [{ attempts: 3 }, "delivered 08:00 after 3 attempts", ""],
  delayed: [{ error: "http 503" }, "not delivered: it answered 503, 1 try, next in 3:12", ""],
  failed: [{ error: "http 410" }, "failed after 1 attempt: it answered 410", "/people/ann"],
  withdrawn: [{}, "withdrawn before it went out: somebody had it, or it was over", ""],
  step_not_reached: [{}, "rung 2, in 3:12", "/p/shop/rules/errors"],
  not_on_call: [{ by: "bob" }, "not paged: not on call, Bob was", "/oncall"],
  covered_by_override: [
    { by: "bob", until: NOW + 3600 },
    "not paged: an override gives the duty to Bob until 10:00",
    "/oncall",
  ],
  no_channel: [{ account_id: "me" }, "not paged: no contact and no phone", "/me/devices"],
  no_device: [{}, "not paged: the relay knows no phone of theirs", "/people/ann"],
  channel_disabled: [
    { integration_id: "c1", event: "alert.opened", error: "http 410" },
    "not notified that it opened: it is off: it answered 410",
    "/p/shop/channels/c1",
  ],
  event_filtered: [
    { integration_id: "c1", event: "alert.opened", error: "takes alert.resolved" },
    "not notified that it opened: takes alert.resolved",
    "/p/shop/channels/c1",
  ],
  silenced: [{ by: "s1", until: NOW + 32_400 }, "not notified: silenced until 18:00", "/silences"],
  no_ladder: [{}, "Nobody is paged: the rule has no ladder.", "/p/shop/rules/errors"],
  repeat_is_silent: [
    { at: NOW - 12 },
    "Further events are counted in this alert and ring nobody anew; the last came 12 s ago.",
    "/p/shop/rules/errors",
  ],
  account_removed: [{}, "not paged: was removed", "/p/shop/rules/errors"],
};

test("each reason of the closed list has its sentence, and a link to what would change it", () => {
  assert.deepEqual(Object.keys(SAID).sort(), [...reachReason.options].sort());
  for (const reason of reachReason.options) {
    const [more, words, to] = SAID[reason];
    const said = reachWords({ ...NOTHING, ...more, reason }, call, about);
    assert.equal(plain(said.words.markup), words, reason);
    assert.equal(/href="([^"]*)"/.exec(said.change?.markup ?? "")?.[1] ?? "", to, reason);
    const alone = reachWords(
      { ...NOTHING, ...more, reason },
      { ...call, leads: () => false },
      about,
    );
    assert.equal(alone.change, null, `${reason}: no link to a page that isn't there`);
  }
  const channel = { account_id: null, integration_id: "c1", event: "alert.opened" };
  const told = reachWords({ ...NOTHING, ...channel, reason: "delivered" }, call, about);
  assert.equal(plain(told.words.markup), "notified that it opened 08:00");
  const many = reachWords({ ...NOTHING, reason: "delivered", together: 4 }, call, about);
  assert.match(plain(many.words.markup), /, in one message with 3 others$/);
  const sent: ReachEntry = { ...NOTHING, reason: "accepted_not_confirmed" };
  const acted = reachWords(sent, call, { ...about, acted: new Set(["ann"]) });
  assert.equal(plain(acted.words.markup), "sent 08:00", "whoever took it has seen it");
});

test("a channel that fails says so once, and not what waits behind it", () => {
  const waits: ReachEntry = { ...NOTHING, account_id: null, reason: "delayed", attempts: 0 };
  const fails = { ...waits, attempts: 9, error: "http 503" };
  const shown = { row: { project: "shop", rule: "errors" } as AlertRow, nameOf };
  const around = { faces: () => assert.fail("a channel has no face"), next: undefined };
  const rail = (entries: ReachEntry[]) => {
    const ops = { id: "c1", name: "ops", account: null, entries, ahead: [] };
    return plain(rungRow(call as PageCall, shown, ops, around).markup);
  };
  assert.match(
    rail([fails, waits]),
    /ops ntfy tried againnot delivered: it answered 503, 9 tries, next in 3:12\n$/,
  );
  assert.match(rail([waits]), /ops ntfy on its waywaits for its time in 3:12\n$/);
});

const KINDS: Record<string, [detail: Record<string, unknown>, words: string]> = {
  opened: [
    { rule: "errors", source: "api", count: 3 },
    "Opened by rule errors from api after 3 events.",
  ],
  acknowledged: [
    { via: "webhook", pages_withdrawn: 2 },
    "Ann acknowledged through webhook. 2 waiting pages withdrawn.",
  ],
  unacknowledged: [{}, "Ann took the acknowledgement back."],
  joined: [
    { what: "n=5", opens_at: NOW + 300 },
    "New trouble went into it: n=5. Its acknowledgement ends at 09:05.",
  ],
  snoozed: [{ until: NOW + 3600 }, "Ann snoozed it until 10:00."],
  resolved: [{}, "Ann resolved it."],
  source_resolved: [
    { source: "api" },
    "Its source api says that it is over; the rule leaves that to people.",
  ],
  reopened: [{ resolved_for_seconds: 240 }, "Open again, 4 min after it was resolved."],
  recent_changes: [
    { changes: [{ at: NOW - 600, source: "ci", message: "deploy 41" }] },
    "Changed within the hour before: deploy 41 (ci, 08:50).",
  ],
  escalated: [
    { steps: [1, 2], accounts: ["ann", "bob"], why: "step" },
    "Rungs 1, 2 paged Ann, Bob.",
  ],
  escalated_now: [{}, "Ann ran the next rung at once."],
  reached_nobody: [{ steps: [2], top: true }, "Rung 2 reached nobody, and there is no rung above."],
  unreachable: [
    { accounts: ["bob"], why: "pages_failed" },
    "Nothing reaches Bob: their pages failed.",
  ],
  fallback: [{ accounts: ["bob"] }, "Nobody on the ladder is reached. The fallback paged Bob."],
  assigned: [
    { accounts: ["bob"], keep_ladder: true },
    "Ann gave it to Bob; the ladder goes on beside them.",
  ],
  renotified: [{ why: "burst" }, "Notified again: new events came."],
  retimed: [
    { why: "rule_changed", ladder: "goes_on", next_at: NOW + 60 },
    "Its rule was changed: the ladder goes on at 09:01.",
  ],
  silenced: [
    { until: NOW + 3600, reason: "deploy", held: "step" },
    "Kept quiet until 10:00: deploy. Held back: a rung of the ladder.",
  ],
  silence_over: [{}, "Quiet no more: what was held back is sent."],
  merged: [{ alert: "7" }, "Took over #7, whose template became the same."],
  note: [{ source: "api", note: "half done" }, "api says: half done"],
  noted: [{ text: "x" }, "Ann noted:"],
  note_edited: [{}, "Ann changed a note."],
  note_deleted: [{}, "Ann took a note back."],
  page_sent: [
    { account: "bob", contact: "sms", address: "…22", attempts: 2 },
    "Bob by sms …22: paged after 2 attempts.",
  ],
  shown: [
    { account: "bob", contact: "web_push", address: "Pixel", after: 5 },
    "Bob by browser Pixel: shown 5 s after it was sent.",
  ],
  page_delayed: [
    { account: "bob", contact: "sms", address: "…22", error: "busy" },
    "Bob by sms …22: not paged yet: busy.",
  ],
  page_failed: [
    { account: "bob", contact: "sms", address: "…22", error: "http 410" },
    "Bob by sms …22: not paged: it answered 410.",
  ],
  delivered: [
    { integration: "ops", type: "slack", event: "alert.opened", told_with: 3 },
    "ops (slack): notified that it opened, in one message with 3 others.",
  ],
  delivery_delayed: [
    { integration: "ops", event: "alert.opened", error: "http 503" },
    "ops: not notified yet that it opened: it answered 503.",
  ],
  delivery_failed: [
    { integration: "ops", event: "alert.opened", error: "http 410" },
    "ops: not notified that it opened: it answered 410.",
  ],
  delivery_dropped: [
    { integration: "ops", event: "alert.opened", error: "it is off" },
    "ops: not notified that it opened: it is off.",
  ],
  action_started: [{ action: "restart" }, "Ann ran action restart."],
  action_succeeded: [{ action: "restart" }, "Action restart ran."],
  action_failed: [
    { action: "restart", error: "http 500" },
    "Action restart failed: it answered 500.",
  ],
};

/** Every kind that the program writes into a history. */
function writtenKinds(): Set<string> {
  const tables = /(?:KINDS|TOLD) = \{([^}]*)\}/g;
  const kinds = new Set<string>();
  for (const folder of ["core/alerts", "core/alerts/life", "in/ingest", "out/paging", "out/outbox"])
    for (const file of readdirSync(`src/${folder}`)) {
      if (!file.endsWith(".ts")) continue;
      const code = readFileSync(`src/${folder}/${file}`, "utf8");
      for (const [, kind = ""] of code.matchAll(
        /(?:[tT]imeline|tell|effect)\([^;]*?kind: "(\w+)"/g,
      ))
        kinds.add(kind);
      if (!/\btell\w*\(/.test(code)) continue;
      for (const [, body = ""] of code.matchAll(tables))
        for (const [, kind = ""] of body.matchAll(/: "(\w+)"/g)) kinds.add(kind);
    }
  return kinds;
}

test("every kind that a history has is a sentence; one that is new shows all that is known of it", () => {
  const written = writtenKinds();
  assert.ok(written.size > 20, [...written].join(" "));
  for (const kind of written) assert.ok(kind in KINDS, kind);
  const say = (kind: string, detail: Record<string, unknown>, account_id: string | null = "ann") =>
    plain(entryWords({ at: NOW, kind, account_id, detail }, { call, nameOf }).markup);
  for (const [kind, [detail, words]] of Object.entries(KINDS))
    assert.equal(say(kind, detail), words);
  assert.equal(
    say("resolved", { reason: "quiet", quiet_minutes: 30 }, null),
    "Resolved by itself: no match for 30 min.",
  );
  assert.equal(
    say("escalated", { steps: [1], accounts: ["ann"], why: "step", unreached: true }),
    "Rung 1 was to page Ann.",
  );
  assert.equal(
    say("escalated", { steps: [1], accounts: ["ann"], why: "repeat", unreached: true }),
    "Rung 1 was again to page Ann.",
  );
  assert.equal(say("resolved", { source: "api" }, null), "Its source api resolved it.");
  assert.equal(
    say("unacknowledged", { why: "removed" }, null),
    "Open again: the account of whoever had acknowledged it was removed.",
  );
  assert.equal(say("brand_new", { x: 1 }), "brand new (x 1)");
});

test("attempts at one delivery stand with its last", () => {
  let id = 0;
  const entry = (kind: string, detail: Record<string, unknown> = {}): NumberedEntry => ({
    id: ++id,
    at: NOW,
    kind,
    account_id: null,
    detail,
  });
  const ops = { integration: "ops", event: "alert.opened" };
  const other = { integration: "mail", event: "alert.opened" };
  const groups = groupedEntries([
    entry("opened"),
    entry("delivery_delayed", ops),
    entry("delivery_delayed", other),
    entry("acknowledged"),
    entry("delivered", { ...ops, attempts: 3 }),
    entry("delivered", { ...ops, attempts: 1 }),
  ]);
  assert.deepEqual(
    groups.map(({ entry: { id: last }, before }) => [last, ...before.map((one) => one.id)]),
    [[1], [3], [4], [5, 2], [6]],
  );
});

test("how often something came is said as people say it: the 21st, not the 21th", () => {
  const said = [2, 3, 4, 11, 12, 13, 21].map(nth).join(" ");
  assert.equal(said, "2nd 3rd 4th 11th 12th 13th 21st");
});
