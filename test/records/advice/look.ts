import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Advice } from "../../../src/records/advice/shape.ts";
import type { Person } from "../../support/box.ts";
import { boxAndReceiver, reachBy } from "../../support/contacts.ts";
import { type Plant, plants, play, type Span } from "./plants.ts";

/**
 * Plays these situations (all of them where none are named), and asks for advice until none is left: each that was
 * planted is found, nothing else is, and a dry run of the changed rule says what the advice said.
 */
export async function findsWhatWasPlanted(
  t: TestContext,
  names: readonly string[] | null,
  span: Span,
): Promise<void> {
  const { box, receiver } = await boxAndReceiver(t);
  const ann = box.person("member", "ann@example.org");
  const cid = box.person("member", "cid@example.org");
  for (const person of [ann, cid]) await reachBy(box, person, receiver);
  const all = Object.entries(plants(ann, cid)).filter(([name]) => names?.includes(name) ?? true);
  assert.equal(all.length, names?.length ?? all.length);
  await play(box, Object.fromEntries(all), span);
  const found: Record<string, Advice> = {};
  const unproved: (string | null)[] = [];
  // At most ten at a time: what was seen is hidden, until nothing is left.
  for (;;) {
    const { advice } = (await box.api("GET", "/v1/advice")).body as { advice: Advice[] };
    assert.ok(advice.length <= 10);
    if (advice.length === 0) break;
    for (const one of advice) {
      if (one.kind === "unproved") unproved.push(one.account_id);
      else found[String(one.project)] = one;
      assert.equal((await box.api("POST", `/v1/advice/${one.id}/hide`)).status, 200);
    }
  }
  const kindsOf = (kind: (name: string, plant: Plant) => string | null) =>
    Object.fromEntries(all.map(([name, plant]) => [name, kind(name, plant)]));
  assert.deepEqual(
    kindsOf((name) => found[name]?.kind ?? null),
    kindsOf((_, { kind }) => kind),
  );
  // Who is on a ladder was proved by a code when the box began.
  const onLadders = (person: Person) =>
    all.some(([, { rules }]) => JSON.stringify(rules).includes(person.accountId));
  assert.deepEqual(
    unproved.toSorted(),
    [ann, cid]
      .filter((person) => span.days > 30 && onLadders(person))
      .map(({ accountId }) => accountId)
      .toSorted(),
  );
  const proved: string[] = [];
  for (const [project, { rule: name, change, would, kind }] of Object.entries(found)) {
    if (would === null) continue;
    proved.push(project);
    if (name === null) continue;
    const at = `/v1/projects/${encodeURIComponent(project)}/rules`;
    const rule = { ...(await box.api("GET", `${at}/${name}`)).body, ...change };
    const tried = await box.api("POST", `${at}/dry-run`, { rule, days: 28 });
    assert.equal(tried.status, 200, JSON.stringify(tried.body));
    const { alert_count, page_count } = tried.body;
    assert.deepEqual([alert_count, page_count], [would.alert_count, would.page_count], project);
    if (kind === "nobody_acts") assert.equal(would.page_count, 0);
    if (kind === "flaps" || kind === "ends_by_itself" || kind === "many_of_one")
      assert.ok(
        would.alert_count * 2 <= (all.find(([one]) => one === project)?.[1].troubles.length ?? 0),
        `${project}: ${would.alert_count}`,
      );
  }
  assert.deepEqual(
    names?.filter((name) => proved.includes(name)),
    names === null ? undefined : ["flapping by quiet", "unheard"],
  );
}
