import type { Rota } from "./world.ts";

/** Who a rota has on call, by division. */
export function onCall(rota: Rota, wall: number): string | null {
  if (wall < rota.start) return null;
  const hour = Math.floor((wall % 86_400) / 3600);
  if (rota.hours !== null && (hour < rota.hours.from || hour >= rota.hours.until)) return null;
  const turn = Math.floor((wall - rota.start) / rota.shift);
  return rota.participants[turn % rota.participants.length] ?? null;
}

/** By its name in its project or as from outside. */
export function rotaOf(rotas: readonly Rota[], name: string): Rota {
  return rotas.find((rota) => rota.name === name.slice(name.indexOf("/") + 1)) as Rota;
}
