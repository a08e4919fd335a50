import type { Clock } from "../ground/kit/clock.ts";
import type { EgressClient } from "../ground/kit/egress.ts";
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
import type { DoctorDesk } from "../tenant/house.ts";
import type { Tenant } from "../tenant/tenant.ts";
import type { ServerLimits } from "../web/http/server-limits.ts";
import type { PortCounts } from "../web/intake/port.ts";
import type { HostedState } from "./operate/hosted-health.ts";

/** What either role is handed from outside. */
export interface BoxDeps {
  clock: Clock;
  random: Random;
  log: Log;
  /** Called once for an error after which the process must end (contract §11: exit 74 or 65). */
  onFatal(error: unknown): void;
  /** The kinds of channel there are; the program's own when absent. */
  channels?: ChannelList;
  /** Other limits of its connections than the usual ones. */
  limits?: Partial<ServerLimits>;
  /** Makes the client for what leaves; one of its own when absent. */
  egress?(): EgressClient;
  /** Looks names up in place of the operating system. */
  resolve?: Resolve;
}

/** What the box's answers are made from. */
export interface BoxParts {
  tenant: Tenant;
  backups: ScheduledBackups | null;
  doctor: DoctorDesk;
  /** What came in by ports of their own. */
  ports(): PortCounts[];
  /** Unix seconds. */
  startedAt: number;
}

/** What the hosted role's answers are made from. */
export interface HostedParts extends PageDeps, PairDeps {
  tenants: TenantRegistry;
  /** Signs what tenants' links carry, so that none is opened for a link that nobody gave out. */
  sealer: Sealer;
  state: HostedState;
  paged: PageCounts["add"];
  /** What boxes and readers reach this service at. */
  publicUrl(): string;
}
