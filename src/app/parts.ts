import type { Clock } from "../ground/kit/clock.ts";
import type { EgressClient } from "../ground/kit/egress.ts";
import type { DurableGate } from "../ground/kit/gate.ts";
import type { Log } from "../ground/kit/log.ts";
import type { Resolve } from "../ground/kit/names.ts";
import type { Random } from "../ground/kit/random.ts";
import type { Sealer } from "../ground/kit/sealer.ts";
import type { PageDeps } from "../hosted/page.ts";
import type { PageCounts } from "../hosted/page-counts.ts";
import type { PairDeps } from "../hosted/pairing.ts";
import type { TenantRegistry } from "../hosted/tenant-registry.ts";
import type { ChannelList } from "../out/services/list.ts";
import type { ScheduledBackups } from "../records/backup/scheduled.ts";
import type { DoctorService } from "../tenant/host.ts";
import type { Tenant } from "../tenant/tenant.ts";
import type { SendOn } from "../web/http/send-on.ts";
import type { ServerLimits } from "../web/http/server-limits.ts";
import type { PortCounts } from "../web/intake/port.ts";
import type { KeptBox } from "./operate/database-health.ts";
import type { HostedState } from "./operate/hosted-health.ts";

/** A serving role, for the process around it. */
export interface Running {
  url: string;
  reload(): void;
  stop(): Promise<void>;
  /** Called before `stop`: goes on serving for a while, until `atOnce`. */
  drain?(atOnce: AbortSignal): Promise<void>;
  /** Whether jobs run and the store answers. The watchdog is fed only while this is true. */
  isWell(): boolean;
}

/** What both roles get from their caller. */
export interface BoxDeps {
  clock: Clock;
  random: Random;
  log: Log;
  /** Called once for an error after which the process must end (contract §11: exit 74 or 65). */
  onFatal(error: unknown): void;
  /** The kinds of channel. Default: the program's. */
  channels?: ChannelList;
  /** Limits of its connections that differ from the defaults. */
  limits?: Partial<ServerLimits>;
  /** Makes the client for outgoing requests. Default: a client of its own. */
  egress?(): EgressClient;
  /** A second place where commits have to be before anybody hears of them. Default: none. */
  durable?: DurableGate;
  /** Called once where another machine serves the box, and this one stands by until it may. */
  onStandby?(standing: Running): void;
  /** Resolves names in place of the operating system. */
  resolve?: Resolve;
}

/** What a box's answers are made from. */
export interface BoxParts {
  tenant: Tenant;
  /** What keeps its commits in a database; null without one. */
  record: KeptBox | null;
  backups: ScheduledBackups | null;
  doctor: DoctorService;
  /** Figures of the ports for senders. */
  ports(): PortCounts[];
  startedAt: number;
}

/** What the hosted service's answers are made from. */
export interface HostedParts extends PageDeps, PairDeps {
  tenants: TenantRegistry;
  /** Signs the links of tenants, so that a made-up link opens no tenant. */
  sealer: Sealer;
  state: HostedState;
  paged: PageCounts["add"];
  /** Sends requests on to other nodes; absent where they can't be reached. */
  sendOn: SendOn | undefined;
  /** The address at which boxes and readers reach this service. */
  publicUrl(): string;
}
