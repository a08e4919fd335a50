import { asc, eq } from "drizzle-orm";
import { unixSeconds } from "../../ground/kit/clock.ts";
import { invalid, notFound } from "../../ground/kit/errors.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import { mustGiveAgain } from "../../ground/kit/sent-to.ts";
import { gateways } from "../../ground/store/schema.ts";
import { sealPlace } from "../../ground/store/sealed.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import type { Credentials } from "../outbox/credentials.ts";
import type { GatewayKind } from "../services/contact-kind.ts";
import { contactKindList } from "../services/list.ts";
import type { Gateway } from "./contact.ts";
import { type ContactGuard, checkedFields } from "./contacts.ts";

/** By kind. */
export function listGateways(reader: Reader, guard: ContactGuard): Gateway[] {
  const rows = reader.orm.select().from(gateways).orderBy(asc(gateways.id)).all();
  return rows.map((row) => shownGateway(row, guard));
}

/** Throws 404. */
export function getGateway(reader: Reader, kind: string, guard: ContactGuard): Gateway {
  const row = reader.orm.select().from(gateways).where(eq(gateways.id, kind)).get();
  if (row === undefined) throw notFound("gateway");
  return shownGateway(row, guard);
}

type Row = typeof gateways.$inferSelect;

function shownGateway(row: Row, { sealer }: ContactGuard): Gateway {
  const settings = openSettings(sealer, row) ?? {};
  const open = (contactKindList.gateway(row.id)?.open ?? []).filter(
    (name) => settings[name] !== undefined,
  );
  return {
    kind: row.id,
    url: row.url,
    last_ok_at: row.lastOkAt,
    last_error: row.lastError,
    open: Object.fromEntries(open.map((name) => [name, String(settings[name])])),
    updated_at: row.updatedAt,
  };
}

/**
 * A gateway's settings as they would be stored: what is left blank keeps what is there. Throws 404 for a kind that
 * isn't known, 400 and 403; 422 where a secret that is there would be sent to another address.
 */
export function gatewaySettings(
  reader: Reader,
  { kind: name, input, guard }: { kind: string; input: Credentials; guard: ContactGuard },
): { kind: GatewayKind; settings: Credentials } {
  const kind = contactKindList.gateway(name);
  if (kind === undefined) throw notFound("gateway");
  const before = openGateway(reader, guard.sealer, name) ?? {};
  const own = Object.keys(kind.fields.shape);
  const foreign = Object.keys(input).filter((field) => !own.includes(field));
  if (foreign.length > 0)
    throw invalid(
      foreign.map((field) => ({ field: `/${field}`, reason: `${name} has no such setting` })),
    );
  const kept = Object.fromEntries(Object.entries(before).filter(([field]) => own.includes(field)));
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== ""));
  if (kind.sent) mustGiveAgain(kind.sent, { stored: before, given });
  const settings = checkedFields(kind, { ...kept, ...given }, guard);
  const apart = kind.apart?.(settings) ?? null;
  if (apart !== null) throw invalid([apart]);
  return { kind, settings };
}

/** Stores a gateway's settings, with what only the box may know. Its contacts are tried again at once. */
export function putGateway(
  tx: Tx,
  { kind, settings, guard }: { kind: GatewayKind; settings: Credentials; guard: ContactGuard },
): Gateway {
  const before = openGateway(tx, guard.sealer, kind.kind);
  const complete = { ...(before === null ? kind.mint?.(tx.random) : before), ...settings };
  const sealed = guard.sealer.seal(
    JSON.stringify(complete),
    sealPlace("gateways", "sealed", kind.kind),
  );
  const row = { url: settings["url"] ?? "", sealed, lastError: null, updatedAt: tx.at };
  tx.orm
    .insert(gateways)
    .values({ id: kind.kind, ...row })
    .onConflictDoUpdate({ target: gateways.id, set: row })
    .run();
  tx.note({ topic: "outbox" });
  tx.note({ topic: "people" });
  return getGateway(tx, kind.kind, guard);
}

/** As it would be with these settings, and whether it would be another than it is. Changes nothing. */
export function tryGateway(
  reader: Reader,
  { kind, settings, guard }: { kind: GatewayKind; settings: Credentials; guard: ContactGuard },
): Gateway & { changed: boolean } {
  const row = reader.orm.select().from(gateways).where(eq(gateways.id, kind.kind)).get();
  const before = row === undefined ? null : openSettings(guard.sealer, row);
  const changed =
    before === null || Object.keys(settings).some((name) => settings[name] !== before[name]);
  const open = (kind.open ?? []).filter((name) => settings[name] !== undefined);
  return {
    kind: kind.kind,
    url: settings["url"] ?? "",
    changed,
    open: Object.fromEntries(open.map((name) => [name, String(settings[name])])),
    last_ok_at: row?.lastOkAt ?? null,
    last_error: row?.lastError ?? null,
    updated_at: row?.updatedAt ?? unixSeconds(reader.clock),
  };
}

/** Throws 404. Its contacts stay and reach nobody until there is one again. */
export function deleteGateway(tx: Tx, kind: string): void {
  if (tx.orm.delete(gateways).where(eq(gateways.id, kind)).run().changes !== 1)
    throw notFound("gateway");
  tx.note({ topic: "people" });
}

/** Whether its latest request went well, for reads and the doctor. */
export function markGateway(tx: Tx, kind: string, error: string | null): void {
  const set = error === null ? { lastOkAt: tx.at, lastError: null } : { lastError: error };
  tx.orm.update(gateways).set(set).where(eq(gateways.id, kind)).run();
}

/** The settings; null where there is none, or where they can't be opened. */
export function openGateway(reader: Reader, sealer: Sealer, kind: string): Credentials | null {
  const row = reader.orm
    .select({ id: gateways.id, sealed: gateways.sealed })
    .from(gateways)
    .where(eq(gateways.id, kind))
    .get();
  return row === undefined ? null : openSettings(sealer, row);
}

function openSettings(sealer: Sealer, row: { id: string; sealed: string }): Credentials | null {
  const text = sealer.open(row.sealed, sealPlace("gateways", "sealed", row.id));
  return text === null ? null : (JSON.parse(text) as Credentials);
}

/** The kinds of contact that are served now. */
export function servedKinds(reader: Reader): Set<string> {
  const there = new Set(
    reader.orm
      .select({ id: gateways.id })
      .from(gateways)
      .all()
      .map(({ id }) => id),
  );
  const served = contactKindList.kinds.filter(
    ({ gateway, gatewayOptional }) =>
      gateway === null || gatewayOptional || there.has(gateway.kind),
  );
  return new Set(served.map(({ kind }) => kind));
}
