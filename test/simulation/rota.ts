import type { Rota } from "./world.ts";

/** Who a rota has on call, by division. */
export function onCall(rota: Rota, wall: number): string | null {
  if (wall < rota.start) return null;
  const hour = Math.floor((wall % 86_400) / 3600);
  if (rota.hours !== null && (hour < rota.hours.from || hour >= rota.hours.until)) return null;
  const turn = Math.floor((wall - rota.start) / rota.shift);
  return rota.participants[turn % rota.participants.length] ?? null;
}
