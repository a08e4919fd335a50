import { statSync } from "node:fs";
import { join } from "node:path";
import { type QuietProject, quietProjects } from "../../core/quiet/rows.ts";
import { version } from "../../ground/kit/assets.ts";
import { type Clock, unixSeconds } from "../../ground/kit/clock.ts";
import type { Random } from "../../ground/kit/random.ts";
import { freeBytes } from "../../ground/store/files.ts";
import { isLocked } from "../../ground/store/lock.ts";
import { getMeta } from "../../ground/store/meta.ts";
import { userVersion } from "../../ground/store/migrate.ts";
import { mustBeServed } from "../../ground/store/record/mark.ts";
import { openReader, type Reader } from "../../ground/store/store.ts";
import type { Health } from "../../tenant/health.ts";
import type { Examined } from "../../tenant/host.ts";
import { askBox } from "./ask.ts";

/** A box's state, as `box status` prints it. Times in Unix seconds, sizes in bytes. */
export interface Status {
  data: string;
  tenant_id: string;
  running: boolean;
  /** Where it listens, or listened when it last ran; null before its first start. */
  address: string | null;
  /** This program's version, and the running box's (null when it doesn't answer). */
  version: string;
  running_version: string | null;
  schema: number;
  counts: Record<string, number>;
  disk: { store: number; log: number; free: number | null };
  last_backup: number | null;
  /** Active silences of everything in a project, or in all. */
  quiet: QuietProject[];
  /** The latest findings of the box's doctor, by the names of its checks; null: it never ran. */
  doctor: { at: number; wrong: string[] } | null;
  /** The running box's own health; null when it doesn't run or answer. */
  health: Health | null;
}

/** A data directory that a command names. */
export interface Directory {
  data: string;
  clock: Clock;
  random: Random;
}

/** Reads the data directory without changing it, and asks the box if it runs. Throws StoreFault. */
export async function boxStatus(options: Directory): Promise<Status> {
  const { data, clock } = options;
  const reader = openBox(options);
  try {
    const running = isLocked(data);
    const address = text(getMeta(reader, "listen_url"));
    const health = running && address !== null ? await askBox(clock, `${address}/readyz`) : null;
    const told = health === null ? null : await askBox(clock, `${address}/v1/version`);
    return {
      data,
      tenant_id: text(getMeta(reader, "tenant_id")) ?? "",
      running,
      address,
      version,
      running_version: (told as { version?: string } | null)?.version ?? null,
      schema: userVersion(reader.db),
      counts: countsOf(reader),
      disk: { ...sizesOf(data), free: freeBytes(data) },
      last_backup: number(getMeta(reader, "last_backup")),
      quiet: quietProjects(reader, unixSeconds(clock)),
      doctor: doctorOf(reader),
      health: health as Health | null,
    };
  } finally {
    reader.close();
  }
}

/** Where the box listens, or listened when it last ran; null before its first start. Throws StoreFault. */
export function boxAddress(options: Directory): string | null {
  const reader = openBox(options);
  try {
    return text(getMeta(reader, "listen_url"));
  } finally {
    reader.close();
  }
}

function doctorOf(reader: Reader): Status["doctor"] {
  const kept = getMeta(reader, "doctor");
  if (kept === undefined) return null;
  const { at, findings } = JSON.parse(String(kept)) as Examined;
  return { at, wrong: findings.flatMap(({ state, check }) => (state === "wrong" ? check : [])) };
}

/** Opens the box's store for reading. Throws StoreFault, also where there is none, or another machine has the present one. */
export function openBox({ data, clock, random }: Directory): Reader & { close(): void } {
  mustBeServed(data);
  return openReader({ path: join(data, "box.db"), kind: "box", clock, random });
}

/** Bytes of the store and of its write-ahead log. */
export function sizesOf(data: string): { store: number; log: number } {
  const size = (name: string) => statSync(join(data, name), { throwIfNoEntry: false })?.size ?? 0;
  return { store: size("box.db"), log: size("box.db-wal") };
}

const COUNTS: Record<string, string> = {
  projects: "projects",
  sources: "sources",
  rules: "rules",
  accounts: "accounts",
  devices: "devices",
  contacts_verified: "contacts WHERE state IN ('verified', 'failing')",
  contacts_failing: "contacts WHERE state = 'failing'",
  alerts_open: "alerts WHERE state = 'open' AND drill = 0",
  alerts_acknowledged: "alerts WHERE state = 'acknowledged' AND drill = 0",
  deliveries_pending: "deliveries WHERE status = 'pending'",
  executions_pending: "executions WHERE status = 'pending'",
  integrations_disabled: "integrations WHERE enabled = 0",
};

function countsOf(reader: Reader): Record<string, number> {
  const count = (what: string) =>
    reader.sql<[], number>(`SELECT count(*) FROM ${what}`).pluck().get() ?? 0;
  return Object.fromEntries(Object.entries(COUNTS).map(([name, what]) => [name, count(what)]));
}

function text(value: string | number | undefined): string | null {
  return value === undefined ? null : String(value);
}

function number(value: string | number | undefined): number | null {
  return value === undefined ? null : Number(value);
}
