import type { RunEvidence } from "./evidence.ts";

/** A push that was under way when its browser's revocation was answered may arrive for so long. */
const UNDER_WAY_MS = 1000;

/**
 * Each alert of a ladder has a page for the browser that stays. A page that the box calls delivered has arrived at its
 * browser and could be decrypted. A page is withdrawn only where the alert was acknowledged or the browser was being
 * revoked.
 */
export function lostPushes(evidence: RunEvidence): string[] {
  const { alerts, pages, devices, pushes } = evidence;
  const [stays] = devices;
  const byContact = new Map(
    devices.flatMap((device, n) =>
      device.contactId === null ? [] : [[device.contactId, { ...device, n }] as const],
    ),
  );
  const paged = new Set(
    pages.filter(({ contactId }) => contactId === stays?.contactId).map(({ alertId }) => alertId),
  );
  const ladders = laddersOf(evidence);
  const unpaged = alerts
    .filter(({ id, project, rule }) => ladders.has(`${project}/${rule}`) && !paged.has(id))
    .map(({ id }) => `alert ${id} pushes to nobody`);
  const open = new Set(alerts.filter(({ state }) => state === "open").map(({ id }) => id));
  const came = new Set(
    pushes
      .filter(({ isPage, wasTaken }) => isPage && wasTaken)
      .flatMap(({ device, alertIds }) => alertIds.map((id) => `${device} ${id}`)),
  );
  const known = pages.flatMap((page) => {
    const device = byContact.get(page.contactId);
    return device === undefined ? [] : [{ ...page, device }];
  });
  // A message about very many alerts only gives their number.
  const unnamed = pushes.reduce((sum, { more, wasTaken }) => sum + (wasTaken ? more : 0), 0);
  const untrue = known
    .filter(({ alertId, status, device }) => {
      return status === "delivered" && !came.has(`${device.n} ${alertId}`);
    })
    .slice(unnamed);
  const lost = known.filter(({ alertId, status, device }) => {
    const isOver = status === "withdrawn" && !open.has(alertId);
    return status !== "delivered" && !isOver && !device.isLeaving;
  });
  const told = [...untrue, ...lost].map(
    ({ alertId, status }) => `a push of alert ${alertId} is ${status} and never came`,
  );
  return [...unpaged, ...told];
}

/** Nothing arrives at a browser after its revocation was answered. */
export function pushedToRevoked({ devices, pushes }: RunEvidence): string[] {
  return pushes.flatMap(({ device, at, alertIds }) => {
    const revokedAt = devices[device]?.revokedAt ?? null;
    return revokedAt === null || at <= revokedAt + UNDER_WAY_MS
      ? []
      : [`${Math.round(at - revokedAt)} ms after it was revoked: alerts ${alertIds.join(", ")}`];
  });
}

/** Pushes that their own browser couldn't decrypt. */
export function unread({ pushes }: RunEvidence): string[] {
  return pushes.filter(({ isRead }) => !isRead).map(({ device }) => `a push to browser ${device}`);
}

/** `{project}/{rule}` of rules whose ladder's first step is due at the opening. */
export function laddersOf({ projects }: RunEvidence): ReadonlySet<string> {
  return new Set(
    projects.flatMap(({ name, rules }) =>
      rules.filter(({ ladder }) => ladder).map((rule) => `${name}/${rule.name}`),
    ),
  );
}
