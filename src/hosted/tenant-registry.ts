import type { Clock } from "../ground/kit/clock.ts";
import { ElsewhereError } from "../ground/kit/elsewhere.ts";
import { ServiceError } from "../ground/kit/errors.ts";
import type { Log } from "../ground/kit/log.ts";
import type { Tenant } from "../tenant/tenant.ts";
import { keepLinks, type LinkKeeper } from "./link-keeper.ts";
import type { Registry } from "./registry/registry.ts";
import type { Plan } from "./registry/tenants.ts";
import { createOpenings, notReady, UnreadableTenant } from "./tenant-openings.ts";
import type { TenantPlaces } from "./tenant-places.ts";
import { isAtRest, isQuiet, type OpenTenant, wakeAt } from "./tenant-rest.ts";
import { mayOpen, sealStore, tokenHashes } from "./tenant-seal.ts";

export interface TenantRegistryStats {
  open: number;
  opened: number;
  closed: number;
  /** Tenants whose data can't be read. They stay closed until the next start. */
  broken: number;
  /** Times that one was given up: its place didn't answer, or another node took it. */
  lost: number;
}

interface TenantRegistryLimits {
  /** Tenants open at one time. */
  mostOpen: number;
  /** How long a tenant stays open after its last request. */
  warmMs: number;
}

interface TenantRegistryDeps {
  registry: Registry;
  clock: Clock;
  log: Log;
  limits: TenantRegistryLimits;
  places: TenantPlaces;
}

/** How many tenants one look opens for due work. */
const OPENED_A_LOOK = 64;
/** How long until a tenant that can't be opened is due again. */
const LATER_MS = 60_000;
/** Before the server stops, openings are waited for so long. */
const ENDING_MS = 2_000;
const PLANS_MS = 10_000;

/** Opens a hosted tenant when it is needed or due, and closes it when it is idle. */
export class TenantRegistry {
  readonly #deps: TenantRegistryDeps;
  readonly #open = new Map<string, OpenTenant>();
  readonly #opening: ReturnType<typeof createOpenings>;
  readonly #closing = new Map<string, Promise<void>>();
  readonly #broken = new Set<string>();
  /** Tenants that are closing: the write of their next due times, and the hashes of their tokens. */
  readonly #leaving = new Map<string, { written: Promise<void>; hashes: readonly string[] }>();
  readonly #links: LinkKeeper;
  /** Every tenant that was due at the start was opened, so the registry's index is complete. */
  #isSettled = false;
  #plansAt = Number.NEGATIVE_INFINITY;
  #opened = 0;
  #closed = 0;
  #lost = 0;
  #stopped = false;
  #givenBack: Promise<void> | null = null;

  constructor(deps: TenantRegistryDeps) {
    this.#deps = deps;
    this.#opening = createOpenings(deps);
    this.#links = keepLinks(deps);
  }

  /**
   * The running tenant, returned directly where it is open. Null for an id of no hosted tenant, and for a closed tenant
   * that `token` certainly doesn't open; the tenant itself checks the token. Throws ServiceError overloaded where too
   * many are in use, not_ready where its data can't be read, ElsewhereError where another node serves it.
   */
  find(id: string, token?: string): Tenant | Promise<Tenant | null> {
    const entry = this.#open.get(id);
    return entry === undefined ? this.#findClosed(id, token) : this.#used(entry);
  }

  async #findClosed(id: string, token: string | undefined): Promise<Tenant | null> {
    // A tenant that is closing is sealed when that is over.
    if (!this.#opening.has(id)) await this.#closing.get(id);
    const { registry, places } = this.#deps;
    const isShut = !this.#open.has(id) && !this.#opening.has(id);
    if (isShut) await places.mustBeFree(id);
    if (isShut && token !== undefined) {
      const files = await places.stamp(id);
      if (!(await mayOpen(registry, { tenantId: id, files, token }))) return null;
    }
    const opened = await this.#entry(id);
    return opened === null ? null : this.#used(opened);
  }

  /**
   * The running tenant of a public report's UUID, or of the SHA-256 of a short token or a ping address. Null for an
   * unknown key, and nothing is opened. Throws as `find`, and not_ready while the index may be incomplete.
   */
  async findLinked(by: "reportLinks" | "senderLinks", key: string): Promise<Tenant | null> {
    const links = this.#deps.registry[by];
    let id = await links.find(key);
    if (id === null) {
      // A new link may not be in the registry yet.
      await this.#links.written();
      id = await links.find(key);
    }
    if (id !== null) return this.find(id);
    if (this.#isSettled && !(await this.#deps.places.hasUnknown())) return null;
    throw new ServiceError("not_ready", "The service has just started: try again shortly.", {
      retryAfter: 5,
    });
  }

  /** At the start: makes every tenant due whose store differs from what the registry knows. */
  async survey(): Promise<void> {
    const { registry, clock, places } = this.#deps;
    for await (const id of places.changed()) await registry.tenants.setNextDue(id, clock.now());
  }

  /** The plan of an open tenant. */
  plan(id: string): Plan {
    return this.#open.get(id)?.plan ?? "free";
  }

  /**
   * Opens due tenants and closes idle ones, and waits some seconds at most for each. Returns whether more are due than it
   * opened.
   */
  async look(): Promise<boolean> {
    const { registry, clock, places } = this.#deps;
    await places.takeLeft((id) => this.#open.has(id));
    if (clock.mono() - this.#plansAt >= PLANS_MS) await this.#readPlans();
    for (const [id, entry] of [...this.#open]) if (this.#atRest(entry)) await this.#close(id);
    // Open tenants always count as due, in case this process dies.
    const { late } = this.#opening;
    const most = this.#open.size + late.size + OPENED_A_LOOK;
    const due = await registry.tenants.due(clock.now(), most);
    const shut = due.filter((id) => !this.#open.has(id) && !late.has(id));
    const hasRoom = await this.#opening.wakeAll(shut, (id) => this.#wake(id));
    if (!hasRoom || due.length === most) return true;
    if (late.size > 0) return false;
    await this.#links.written();
    this.#isSettled = true;
    return false;
  }

  /** Before the server stops: answers parked readers and writes what waits. */
  wake(): void {
    for (const { tenant } of this.#open.values()) {
      tenant.waiters.wake();
      tenant.changes.stop();
      tenant.ingest.drain();
    }
    this.#deps.clock.after(ENDING_MS, () => this.#giveUpOpening());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    const cancel = this.#deps.clock.after(ENDING_MS, () => this.#giveUpOpening());
    await this.#closeAll();
    await this.#opening.over();
    cancel();
    await this.#givenBack;
    await this.#closeAll();
    await Promise.allSettled([...this.#closing.values(), this.#links.written()]);
  }

  async #closeAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((id) => this.#close(id)));
  }

  /** A store that is upgraded meanwhile may take minutes, and the tenants that are open have to be closed. */
  #giveUpOpening(): void {
    this.#stopped = true;
    this.#opening.giveUp();
    this.#givenBack ??= this.#deps.places.giveBack();
  }

  stats(): TenantRegistryStats {
    const [open, opened, closed, lost] = [this.#open.size, this.#opened, this.#closed, this.#lost];
    return { open, opened, closed, broken: this.#broken.size, lost };
  }

  #used(entry: OpenTenant): Tenant {
    entry.usedAt = this.#deps.clock.mono();
    return entry.tenant;
  }

  /** Requests during an opening wait for that opening. */
  #entry(id: string): Promise<OpenTenant | null> {
    const present = this.#open.get(id);
    if (present !== undefined) return Promise.resolve(present);
    return this.#opening.of(id, () => this.#openOne(id));
  }

  async #openOne(id: string): Promise<OpenTenant | null> {
    const { registry, clock, log } = this.#deps;
    if (this.#broken.has(id) || this.#stopped) throw notReady();
    const known = await registry.tenants.get(id);
    if (known === null || known.kind !== "hosted") return null;
    await this.#closing.get(id);
    await this.#makeRoom();
    const epoch = await registry.seals.epoch(id);
    // From here on it counts as due: if this process dies, the next one opens it again.
    await registry.tenants.setNextDue(id, clock.now());
    if (this.#stopped) throw notReady();
    let isLost = false;
    try {
      const tenant = await this.#deps.places.start(id, {
        atClose: (closing) => this.#leave(id, closing),
        onFatal: (error) => this.#breakOff(id, error),
        onLost: (why) => {
          isLost = true;
          this.#giveUp(id, why);
        },
      });
      const entry: OpenTenant = {
        tenant,
        plan: known.plan,
        epoch,
        openedAt: clock.mono(),
        usedAt: Number.NEGATIVE_INFINITY,
      };
      this.#open.set(id, entry);
      this.#opened++;
      // While nobody could close it.
      if (isLost || this.#stopped || this.#broken.has(id)) await this.#close(id);
      else this.#links.follow(id, tenant.store);
      return entry;
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      log.error({ err: error, tenant: id }, "a tenant's data can't be opened");
      throw notReady();
    }
  }

  async #makeRoom(): Promise<void> {
    const { mostOpen } = this.#deps.limits;
    if (this.#open.size + this.#opening.size <= mostOpen) return;
    const quiet = [...this.#open].filter(([, entry]) => isQuiet(entry, this.#deps.clock.mono()));
    const [longest] = quiet.sort(([, a], [, b]) => a.usedAt - b.usedAt);
    if (longest !== undefined) return this.#close(longest[0]);
    throw new ServiceError("overloaded", "Too many tenants are in use at this moment.", {
      retryAfter: 5,
    });
  }

  #atRest(entry: OpenTenant): boolean {
    const { clock, limits } = this.#deps;
    return isAtRest(entry, { mono: clock.mono(), now: clock.now(), warmMs: limits.warmMs });
  }

  #close(id: string): Promise<void> {
    const entry = this.#open.get(id);
    if (entry === undefined) return this.#closing.get(id) ?? Promise.resolve();
    this.#open.delete(id);
    this.#closed++;
    const closing = this.#stop(id, entry).finally(() => this.#closing.delete(id));
    this.#closing.set(id, closing);
    return closing;
  }

  /** Closed only when its next due time is written: a look before that would open it again. Then it is sealed. */
  async #stop(id: string, { tenant, epoch }: OpenTenant): Promise<void> {
    const { registry, places } = this.#deps;
    try {
      await tenant.stop();
      const left = this.#leaving.get(id);
      await left?.written;
      if (left === undefined) return;
      const files = await places.stamp(id);
      await sealStore(registry, { tenantId: id, epoch, files, hashes: left.hashes });
    } catch (error) {
      this.#deps.log.error({ err: error, tenant: id }, "closing a tenant failed");
    } finally {
      this.#leaving.delete(id);
    }
  }

  /** Writes when a closing tenant must be opened again: at least daily, to delete old data. */
  #leave(id: string, closing: Pick<Tenant, "store" | "ingest">): void {
    const { places, clock, log } = this.#deps;
    const at = wakeAt(closing, clock.now());
    const written = places.rest(id, at).catch((error: unknown) => {
      log.error({ err: error, tenant: id }, "a tenant stays due: its next time was not written");
    });
    this.#leaving.set(id, { written, hashes: tokenHashes(closing.store) });
  }

  /** False where too many are open: it stays due. */
  async #wake(id: string): Promise<boolean> {
    const { registry, clock } = this.#deps;
    try {
      if ((await this.#entry(id)) !== null) return true;
    } catch (error) {
      if (error instanceof ElsewhereError) return true;
      if (!(error instanceof ServiceError)) throw error;
      if (error.code === "overloaded") return false;
      if (!(error instanceof UnreadableTenant)) throw error;
      if (this.#stopped) return true;
    }
    await registry.tenants.setNextDue(id, clock.now() + LATER_MS);
    return true;
  }

  async #readPlans(): Promise<void> {
    this.#plansAt = this.#deps.clock.mono();
    for (const [id, entry] of this.#open) {
      entry.plan = (await this.#deps.registry.tenants.get(id))?.plan ?? entry.plan;
    }
  }

  #giveUp(id: string, why: string): void {
    this.#lost++;
    this.#deps.log.warn({ tenant: id, why }, "this node has a tenant no longer");
    void this.#close(id);
  }

  /** One tenant's damaged file must not end the service for all. */
  #breakOff(id: string, error: unknown): void {
    const { log } = this.#deps;
    if (this.#broken.has(id)) return;
    this.#broken.add(id);
    log.fatal(
      { err: error, tenant: id },
      "a tenant's store is damaged: it is shut until it is restored",
    );
    void this.#close(id);
  }
}
