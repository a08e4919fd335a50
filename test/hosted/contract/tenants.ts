import assert from "node:assert/strict";
import { type ContractRegistry, contractBox, together } from "./bench.ts";

/** Tenants, what leads to them, heartbeats, the provider's token and outages. */
export function tenantsContract({ name, test, open }: ContractRegistry): void {
  test(`${name}: tenants: what the operator sets, pages of the list, and the next-due times`, async (t) => {
    const { registry, clock } = await open(t);
    const { tenants } = registry;
    const made = [];
    for (let n = 0; n < 5; n++) made.push((await tenants.add({ kind: "hosted" })).id);
    made.sort();
    const page = await tenants.list({ after: made[1] ?? "", limit: 2 });
    assert.deepEqual(
      page.map((tenant) => tenant.id),
      made.slice(2, 4),
    );
    const [one = "", two = "", three = ""] = made;
    assert.equal(await tenants.set(one, { plan: "pro", watchSeconds: 0 }), true);
    assert.deepEqual(await tenants.get(one), {
      id: one,
      kind: "hosted",
      plan: "pro",
      ownerEmail: null,
      boxUrl: null,
      boxTenantId: null,
      watchSeconds: 0,
      createdAt: Math.floor(clock.now() / 1000),
    });
    assert.equal(await tenants.get("0000000000000000"), null);
    assert.equal(await tenants.set("0000000000000000", { plan: "pro" }), false);
    assert.equal(await tenants.nextDue(), null);
    await tenants.setNextDue(one, 300);
    await tenants.setNextDue(two, 100);
    await tenants.setNextDue(three, 301);
    assert.equal(await tenants.nextDue(), 100);
    assert.deepEqual(await tenants.due(300, 10), [two, one]);
    assert.deepEqual(await tenants.due(300, 1), [two]);
    await tenants.setNextDue(two, null);
    assert.deepEqual(await tenants.due(300, 10), [one]);
  });

  test(`${name}: an address that the operator sets outranks earlier announcements`, async (t) => {
    const { registry, clock } = await open(t);
    const { tenants } = registry;
    const { tenantId, relayKeyId } = await contractBox(registry);
    const now = Math.floor(clock.now() / 1000);
    await tenants.set(tenantId, { boxUrl: "https://set.example" });
    const from = { tenantId, relayKeyId };
    const news = { ...from, boxUrl: "https://told.example", boxTenantId: "b".repeat(16) };
    assert.equal(await tenants.announce({ ...news, stamp: now - 1 }), "old");
    assert.equal((await tenants.get(tenantId))?.boxUrl, "https://set.example");
    assert.equal(await tenants.announce({ ...news, stamp: now + 1 }), "told");
    const { boxUrl, boxTenantId } = (await tenants.get(tenantId)) ?? {};
    assert.deepEqual([boxUrl, boxTenantId], ["https://told.example", "b".repeat(16)]);
    const { id } = await tenants.add({ kind: "hosted" });
    assert.equal(await tenants.announce({ ...news, tenantId: id, stamp: now }), "revoked");
    const none = { ...news, relayKeyId: "rk_0000000000000000", stamp: now + 2 };
    assert.equal(await tenants.announce(none), "revoked");
  });

  test(`${name}: a link leads to its tenant, and to the first one if several have it`, async (t) => {
    const bench = await open(t);
    const { registry, clock } = bench;
    const ids: string[] = [];
    for (let n = 0; n < 2; n++) ids.push((await registry.tenants.add({ kind: "hosted" })).id);
    const [one = "", two = ""] = ids;
    await registry.senderLinks.replace(two, ["a", "b"]);
    await clock.turn(1000);
    await registry.senderLinks.replace(one, ["b", "c"]);
    const found = (keys: string[]) =>
      Promise.all(keys.map((key) => bench.nodes[1].senderLinks.find(key)));
    assert.deepEqual(await found(["a", "b", "c", "d"]), [two, two, one, null]);
    await registry.senderLinks.replace(two, ["d"]);
    assert.deepEqual(await found(["a", "b", "c", "d"]), [null, one, one, two]);
    await together(bench, 6, (node) => node.senderLinks.replace(one, ["b", "x", "y"]));
    assert.deepEqual(await found(["b", "c", "x"]), [one, null, one]);
    await registry.reportLinks.replace(one, ["r1", "r2"]);
    await registry.reportLinks.replace(two, ["r2"]);
    const reports = (key: string) => registry.reportLinks.find(key);
    assert.deepEqual(await Promise.all(["r1", "r2", "r3"].map(reports)), [one, two, null]);
    await registry.reportLinks.replace(one, []);
    assert.deepEqual(await Promise.all(["r1", "r2"].map(reports)), [null, two]);
  });

  test(`${name}: of seals written at once one is kept, and one with an old epoch is refused`, async (t) => {
    const bench = await open(t);
    const { seals, tenants } = bench.registry;
    const { id: tenantId } = await tenants.add({ kind: "hosted" });
    const epoch = await seals.epoch(tenantId);
    assert.deepEqual([epoch, await seals.judge(tenantId, "h0")], [0, null]);
    const put = await together(bench, 6, (node, n) =>
      node.seals.put({ tenantId, epoch, files: `f${n}`, hashes: [`h${n}`, "all"] }),
    );
    assert.equal(put.filter(Boolean).length, 1);
    const n = put.indexOf(true);
    assert.deepEqual(await seals.judge(tenantId, `h${n}`), { files: `f${n}`, knows: true });
    assert.deepEqual(await seals.judge(tenantId, `h${n + 1}`), { files: `f${n}`, knows: false });
    const after = await seals.epoch(tenantId);
    assert.equal(await seals.break(tenantId), after + 1);
    assert.equal(await seals.judge(tenantId, "all"), null);
    const late = { tenantId, epoch: after, files: "late", hashes: [] };
    assert.equal(await seals.put(late), false);
    assert.equal(await seals.put({ ...late, epoch: after + 1 }), true);
    assert.deepEqual(await seals.judge(tenantId, "all"), { files: "late", knows: false });
    const { id: other } = await tenants.add({ kind: "hosted" });
    await tenants.add({ kind: "box" });
    const rows = [
      { id: tenantId, files: "late" },
      { id: other, files: null },
    ].sort((a, b) => (a.id < b.id ? -1 : 1));
    assert.deepEqual(await seals.list({ after: "", limit: 5 }), rows);
    assert.deepEqual(await seals.list({ after: rows[0]?.id ?? "", limit: 5 }), rows.slice(1));
  });

  test(`${name}: two boxes with one key are distinguished from one box that restarts`, async (t) => {
    const bench = await open(t);
    const { registry, clock } = bench;
    const box = await contractBox(registry);
    let node = 0;
    /** A minute later, at the other node. */
    const beat = async (boot?: string) => {
      await clock.turn(60_000);
      const stamp = Math.floor(clock.now() / 1000);
      const { heartbeats } = bench.nodes[node++ % 2 === 0 ? 0 : 1];
      return heartbeats.beat({ ...box, stamp, ...(boot === undefined ? {} : { boot }) });
    };
    const beats = async (boots: string) => {
      const heard: unknown[] = [];
      for (const boot of boots) heard.push(await beat(boot));
      return heard.map((one) => (one === "twin" ? "2" : "1")).join("");
    };
    assert.equal(await beat(), "heard");
    assert.equal(await beats("abcddefaa"), "111111111");
    assert.deepEqual(await registry.heartbeats.owed(10), []);
    // A report that was under way while the next process started.
    assert.equal(await beats("aba"), "111");
    assert.equal(await beats("aaaaaaaa"), "11111111");
    assert.equal(await beats("bab"), "122");
    const [owed, ...more] = await registry.heartbeats.owed(10);
    assert.deepEqual([owed?.news, more], ["twin", []]);
    assert.equal((await registry.heartbeats.look(120)).twins, 1);
    assert.ok(owed !== undefined);
    await registry.heartbeats.paid(owed);
    assert.equal(await beats("aabab"), "22222");
    assert.equal(await beat(), "twin");
    assert.deepEqual(await registry.heartbeats.owed(10), []);
    assert.equal(await beats("bbbbbb"), "222211");
    assert.equal((await registry.heartbeats.look(120)).twins, 0);
    assert.equal(await beats("ababab"), "122222");
    assert.equal((await registry.heartbeats.owed(10)).length, 1);
  });

  test(`${name}: a silence owes one page, which one node sends, and a planned stop owes none`, async (t) => {
    const bench = await open(t);
    const { registry, clock } = bench;
    const boxes = [await contractBox(registry), await contractBox(registry)];
    const sign = (n: number, ahead = 0) => ({
      tenantId: boxes[n]?.tenantId ?? "",
      relayKeyId: boxes[n]?.relayKeyId ?? "",
      stamp: Math.floor(clock.now() / 1000) + ahead,
    });
    const look = (node = 0) => bench.nodes[node === 0 ? 0 : 1].heartbeats.look(120);
    const pass = async (seconds: number) => {
      for (let left = seconds; left > 0; left -= 15) {
        await clock.turn(15_000);
        await look(left % 2);
      }
    };
    const heardAt = Math.floor(clock.now() / 1000);
    const beaten = await together(bench, 6, (node, n) => node.heartbeats.beat(sign(n % 2)));
    assert.ok(beaten.every(Boolean));
    assert.equal(await registry.heartbeats.goodbye(sign(1)), "heard");
    assert.deepEqual(await look(), {
      at: heardAt,
      held: false,
      heldSince: null,
      watched: 1,
      unheard: 0,
      twins: 0,
    });
    await pass(300);
    assert.deepEqual(await registry.heartbeats.owed(10), []);
    await clock.turn(15_000);
    await together(bench, 4, (node) => node.heartbeats.look(120));
    const [owed, ...more] = await registry.heartbeats.owed(10);
    assert.deepEqual(more, []);
    const at = Math.floor(clock.now() / 1000);
    const { tenantId = "" } = boxes[0] ?? {};
    assert.deepEqual(owed, { tenantId, boxUrl: null, news: "silent", at, heardAt });
    assert.ok(owed !== undefined);
    // The page changes while it is sent: `paid` is for the old one.
    await bench.nodes[1].heartbeats.beat(sign(0));
    await registry.heartbeats.paid(owed);
    const [back] = await registry.heartbeats.owed(10);
    assert.equal(back?.news, "back");
    assert.ok(back !== undefined);
    await registry.heartbeats.paid(back);
    assert.deepEqual(await registry.heartbeats.owed(10), []);
    // A late report from before the planned stop changes nothing.
    await registry.heartbeats.beat(sign(1, -900));
    assert.equal((await look()).watched, 1);
    await registry.heartbeats.beat(sign(1));
    assert.equal((await look()).watched, 2);
    // After a time without looks every box counts as heard now.
    await clock.turn(3_600_000);
    await look();
    await pass(300);
    assert.deepEqual(await registry.heartbeats.owed(10), []);
    await pass(15);
    assert.equal((await registry.heartbeats.owed(10)).length, 2);
    assert.equal((await registry.heartbeats.owed(1)).length, 1);
    const [owner = ""] = boxes[0]?.accounts ?? [];
    await registry.relayKeys.rotate({ tenantId, by: owner });
    for (const node of bench.nodes) assert.equal(await node.heartbeats.beat(sign(0)), null);
  });

  test(`${name}: when most boxes are unheard the service is at fault: none counts as silent until most are heard`, async (t) => {
    const { registry, clock } = await open(t);
    const boxes: Awaited<ReturnType<typeof contractBox>>[] = [];
    for (let n = 0; n < 20; n++) boxes.push(await contractBox(registry));
    const beat = (from: number) =>
      Promise.all(
        boxes.slice(from).map(({ tenantId, relayKeyId }) =>
          registry.heartbeats.beat({
            tenantId,
            relayKeyId,
            stamp: Math.floor(clock.now() / 1000),
          }),
        ),
      );
    const looks = async (seconds: number) => {
      let last = await registry.heartbeats.look(120);
      for (let passed = 0; passed < seconds; passed += 15) {
        await clock.turn(15_000);
        last = await registry.heartbeats.look(120);
      }
      return last;
    };
    await beat(0);
    const { at } = await registry.heartbeats.look(120);
    assert.deepEqual(await looks(900), {
      at: at + 900,
      held: true,
      heldSince: at + 105,
      watched: 20,
      unheard: 20,
      twins: 0,
    });
    assert.deepEqual(await registry.heartbeats.owed(50), []);
    await beat(10);
    assert.equal((await looks(15)).held, true);
    await beat(9);
    assert.equal((await looks(15)).held, false);
    for (let n = 0; n < 4; n++) {
      await looks(60);
      await beat(9);
    }
    await looks(45);
    assert.deepEqual(await registry.heartbeats.owed(50), []);
    await looks(15);
    const owed = await registry.heartbeats.owed(50);
    assert.equal(owed.length, 9);
    // The page names the time of the last real heartbeat.
    assert.deepEqual([...new Set(owed.map(({ heardAt }) => heardAt))], [at]);
  });

  test(`${name}: all nodes share one provider token, and one of several that replace it succeeds`, async (t) => {
    const bench = await open(t, { apartMs: 3_600_000 });
    const { registry, clock } = bench;
    const settings = { keyId: "K", teamId: "T", topic: "app", endpoint: "https://localhost" };
    assert.deepEqual(await registry.apns.get(), { kind: "none" });
    const at = Math.floor(clock.now() / 1000);
    assert.deepEqual(await registry.apns.token(), { at, token: null });
    await registry.apns.set({ ...settings, ca: null, key: "k" });
    const set = await registry.apns.get();
    assert.ok(set.kind === "set");
    const { version } = set;
    assert.deepEqual(set.settings, { ...settings, ca: null, key: "k" });
    assert.equal(await registry.apns.version(), version);
    const replace = (iat: number, instead: number | null) =>
      together(bench, 6, (node, n) =>
        node.apns.keepToken({ version, iat, jwt: `${iat}-${n}`, instead }),
      );
    for (const [iat, instead] of [
      [100, null],
      [200, 100],
    ] as const) {
      const kept = await replace(iat, instead);
      assert.equal(kept.filter(Boolean).length, 1);
      const jwt = `${iat}-${kept.indexOf(true)}`;
      for (const node of bench.nodes)
        assert.deepEqual(await node.apns.token(), { at, token: { iat, jwt } });
    }
    assert.deepEqual(await replace(300, 100), Array(6).fill(false));
    await registry.apns.set({ ...settings, ca: "ca", key: "k2" });
    assert.equal((await registry.apns.token()).token, null);
    assert.deepEqual(await replace(300, null), Array(6).fill(false));
    const next = { version: version + 1, iat: 300, jwt: "j", instead: null };
    assert.equal(await bench.nodes[1].apns.keepToken(next), true);
  });

  test(`${name}: an outage is 30 s without a live process, and is stored once`, async (t) => {
    const bench = await open(t, { apartMs: -3_600_000 });
    const { registry, clock, nodes } = bench;
    assert.deepEqual(await registry.uptime.begin(), []);
    const seconds = () => Math.floor(clock.now() / 1000);
    for (let n = 0; n < 6; n++) {
      await clock.turn(10_000);
      assert.equal(await nodes[n % 2 === 0 ? 0 : 1].uptime.beat(), null);
    }
    await clock.turn(29_000);
    assert.equal(await registry.uptime.beat(), null);
    const from = seconds();
    await clock.turn(31_000);
    const outage = { from, to: from + 31 };
    const told = await together(bench, 4, (node) => node.uptime.beat());
    // Each process gets it once.
    const learnt = told.filter((outage) => outage !== null);
    assert.deepEqual(learnt, nodes[0] === nodes[1] ? [outage] : [outage, outage]);
    await clock.turn(1_000);
    assert.equal(await registry.uptime.beat(), null);
    await clock.turn(600_000);
    assert.deepEqual(await nodes[1].uptime.begin(), [outage, { from: from + 32, to: from + 632 }]);
  });
}
