import type { RelayCredential } from "../../../src/hosted/registry/relay-keys.ts";
import {
  account,
  audience,
  type Draws,
  EMAILS,
  HANDSETS,
  key,
  label,
  member,
  ODD,
  SECONDS,
  type Side,
  sign,
  sorted,
  TEXTS,
  tenant,
  WHOLE,
} from "./alike-side.ts";

function keep(side: Side, tenantId: string, credential: RelayCredential): void {
  label(side, "key", credential.keyId);
  label(side, "secret", credential.secret);
  side.keys.push({ ...credential, tenantId });
}

const owed = async (side: Side) =>
  sorted(
    await side.registry.heartbeats.owed(50),
    ({ tenantId, at }) => `${at} ${side.labels.get(tenantId)}`,
  );

type Verb = (side: Side, d: Draws) => Promise<unknown>;

const people: Record<string, Verb> = {
  async addAccount(side, d) {
    const added = await side.registry.accounts.add(d.of(EMAILS));
    if (added.created) side.accounts.push(label(side, "account", added.account.id));
    return added;
  },
  getAccount: (side, d) => side.registry.accounts.get(account(side, d)),
  findAccount: (side, d) => side.registry.accounts.byEmail(d.of([...EMAILS, ...ODD])),
  async addSession(side, d) {
    side.sessions.push(label(side, "session", await side.registry.sessions.add(account(side, d))));
  },
  useSession: (side, d) => side.registry.sessions.use(d.of([...side.sessions, ...ODD])),
  putMember: (side, d) =>
    side.registry.memberships.put({ ...member(side, d), role: d.of(["owner", "admin", "member"]) }),
  role: (side, d) => side.registry.memberships.role(tenant(side, d), account(side, d)),
  members: async (side, d) =>
    sorted(await side.registry.memberships.list(tenant(side, d)), ({ email }) => email),
  async pairFirst(side, d) {
    const pairing = { ...member(side, d), boxAccountId: d.of(["box-0", "box-1", ...TEXTS]) };
    const first = await side.registry.pairings.first(pairing);
    if (first.kind === "paired") keep(side, pairing.tenantId, first.credential);
    return first;
  },
  pairLater: (side, d) =>
    side.registry.pairings.later({
      ...member(side, d),
      boxAccountId: d.of(["box-0", "box-1", ...TEXTS]),
      boxTenantId: d.of(["b0", "b1"]),
    }),
  isPaired: (side, d) =>
    side.registry.pairings.isPaired({ ...member(side, d), boxAccountId: d.of(["box-0", "box-1"]) }),
  pairings: (side, d) => side.registry.pairings.list(tenant(side, d)),
  unpair: (side, d) => side.registry.pairings.revoke({ ...member(side, d), by: account(side, d) }),
  async rotate(side, d) {
    const tenantId = tenant(side, d);
    const rotated = await side.registry.relayKeys.rotate({ tenantId, by: account(side, d) });
    if (rotated.kind === "rotated") keep(side, tenantId, rotated.credential);
    return rotated;
  },
  async isLive(side, d) {
    const { keyId } = key(side, d);
    return side.registry.relayKeys.lives(keyId, await side.registry.relayKeys.find(keyId));
  },
  putDevice: (side, d) =>
    side.registry.devices.put({
      accountId: account(side, d),
      token: d.of([...HANDSETS, "AB".repeat(32)]),
      platform: d.of(["ios", "\u{1f4f1}"]),
      criticalAlerts: d.of([true, false]),
    }),
  devices: (side, d) => side.registry.devices.list(account(side, d)),
  removeDevice: (side, d) => side.registry.devices.remove(account(side, d), d.of(HANDSETS)),
  async recipients(side, d) {
    const { atMs, recipients } = await side.registry.devices.recipients(audience(side, d));
    side.readAtMs = atMs;
    return { atMs, recipients: sorted(recipients, ({ token }) => token) };
  },
  isRecipient: (side, d) => side.registry.devices.isRecipient(audience(side, d), d.of(HANDSETS)),
  retire(side, d) {
    // At most one verdict for each device.
    const gone = d.some(HANDSETS);
    return side.registry.devices.retire({
      readAtMs: side.readAtMs,
      gone: gone.map((token) => ({ token, atMs: d.of([null, 0, side.readAtMs + 5]) })),
      bad: d.some(HANDSETS).filter((token) => !gone.includes(token)),
    });
  },
};

const pages: Record<string, Verb> = {
  async take(side, d) {
    const { keyId, tenantId } = key(side, d);
    const page = {
      tenantId,
      alertId: d.of(TEXTS),
      event: d.of(["e", "\0"]),
      timestamp: d.of(WHOLE),
    };
    // Only the service itself asks without a key, and it knows its tenants.
    const isKnown = side.tenants.includes(tenantId);
    const relayKeyId = isKnown ? d.of([keyId, keyId, null]) : keyId;
    const taken = await side.registry.claims.take(page, { relayKeyId });
    if (taken.kind !== "taken") return taken;
    label(side, "holder", taken.claim.holder);
    side.claims.push(taken.claim);
    return { ...taken, claim: taken.claim.holder, reached: sorted(taken.reached) };
  },
  async settle(side, d) {
    const claim = d.of(side.claims);
    if (claim === undefined) return;
    const result = { reached: d.some(HANDSETS), done: d.of([true, false]), devices: d.of([0, 3]) };
    await side.registry.claims.settle(claim, result);
  },
  async holders(side, d) {
    const held = await side.registry.claims.holders(tenant(side, d));
    return sorted(held, (holder) => side.labels.get(holder) ?? "");
  },
  beat: (side, d) =>
    side.registry.heartbeats.beat({ ...sign(side, d), boot: d.of(["a", "b", "c"]) }),
  goodbye: (side, d) => side.registry.heartbeats.goodbye(sign(side, d)),
  look: (side) => side.registry.heartbeats.look(120),
  owed: (side) => owed(side),
  async pay(side) {
    const [page] = await owed(side);
    if (page !== undefined) await side.registry.heartbeats.paid(page);
  },
  setApns: (side, d) =>
    side.registry.apns.set({
      keyId: d.of(["K", "L"]),
      teamId: "T",
      topic: "app",
      endpoint: "https://localhost",
      ca: d.of([null, "ca"]),
      key: d.of(TEXTS.slice(3)),
    }),
  apns: (side) => side.registry.apns.get(),
  token: (side) => side.registry.apns.token(),
  async keepToken(side, d) {
    const { token } = await side.registry.apns.token();
    const instead = d.of([token?.iat ?? null, null, 5]);
    // Each token is made once.
    const jwt = `token ${++side.tokens}`;
    const fresh = { version: d.of([1, 2]), iat: d.of([5, 6, 7]), jwt, instead };
    return side.registry.apns.keepToken(fresh);
  },
  alive: (side) => side.registry.uptime.beat(),
  async purge(side) {
    // A page that is pushed again after two days is purged by one registry with its hold, by the other without.
    await side.turn(17_000);
    return side.registry.purge();
  },
  turn: (side, d) => side.turn(d.of(SECONDS) * 1000),
};

const tenants: Record<string, Verb> = {
  async addTenant(side, d) {
    const made = await side.registry.tenants.add({
      kind: d.of(["box", "box", "hosted"]),
      ...d.of([{}, { boxUrl: "https://\u{e9}.example" }]),
      ...d.of([{}, { ownerEmail: d.of(EMAILS) }]),
    });
    side.tenants.push(label(side, "tenant", made.id));
    return made;
  },
  getTenant: (side, d) => side.registry.tenants.get(tenant(side, d)),
  listTenants: async (side) =>
    sorted(
      await side.registry.tenants.list({ after: "", limit: 99 }),
      ({ id }) => side.labels.get(id) ?? "",
    ),
  setTenant: (side, d) =>
    side.registry.tenants.set(tenant(side, d), {
      ...d.of([{}, { boxUrl: d.of(["https://a.example", "https://b.example"]) }]),
      ...d.of([{}, { plan: "pro" as const }]),
      ...d.of([{}, { watchSeconds: d.of([0, 100, 300]) }]),
    }),
  announce: (side, d) =>
    side.registry.tenants.announce({
      ...sign(side, d),
      boxUrl: "https://told.example",
      boxTenantId: d.of(["b0", "b1"]),
    }),
  setDue: (side, d) => side.registry.tenants.setNextDue(tenant(side, d), d.of([null, ...WHOLE])),
  due: async (side, d) =>
    sorted(await side.registry.tenants.due(d.of(WHOLE), 99), (id) => side.labels.get(id) ?? ""),
  nextDue: (side) => side.registry.tenants.nextDue(),
  linkSenders: (side, d) => side.registry.senderLinks.replace(tenant(side, d), d.some(TEXTS)),
  linkReports: (side, d) =>
    side.registry.reportLinks.replace(tenant(side, d), [...d.some(TEXTS), ...d.some(TEXTS)]),
  async links(side, d) {
    const found = TEXTS.map((text) =>
      d.of([side.registry.reportLinks, side.registry.reportLinks]).find(text),
    );
    return Promise.all(found);
  },
  async seal(side, d) {
    const tenantId = tenant(side, d);
    const epoch = (await side.registry.seals.epoch(tenantId)) + d.of([0, 0, 1]);
    const hashes = [...d.some(TEXTS), ...d.some(TEXTS)];
    return side.registry.seals.put({ tenantId, epoch, files: d.of(TEXTS), hashes });
  },
  unseal: (side, d) => side.registry.seals.break(tenant(side, d)),
  judge: (side, d) => side.registry.seals.judge(tenant(side, d), d.of(TEXTS)),
  seals: async (side) =>
    sorted(
      await side.registry.seals.list({ after: "", limit: 99 }),
      ({ id }) => side.labels.get(id) ?? "",
    ),
};

/** All operations of a registry, by name. */
export const verbs: Readonly<Record<string, Verb>> = { ...people, ...pages, ...tenants };
