import type { Rota } from "./world.ts";

/** Whom a rota has on call, by division: whose turn it is, and the next others in the row. */
export function onCall(rota: Rota, wall: number): string[] {
  if (wall < rota.start) return [];
  const hour = Math.floor((wall % 86_400) / 3600);
  if (rota.hours !== null && (hour < rota.hours.from || hour >= rota.hours.until)) return [];
  const { participants: row, take } = rota;
  const turn = Math.floor((wall - rota.start) / rota.shift) % row.length;
  const [first, ...others] = [...row.slice(turn), ...row.slice(0, turn)];
  // A turn of nobody is nobody's, how many there may be.
  if (!first) return [];
  return [first, ...others.filter((one) => one !== null)].slice(0, take);
}

/** By its name in its project or as from outside. */
export function rotaOf(rotas: readonly Rota[], name: string): Rota {
  return rotas.find((rota) => rota.name === name.slice(name.indexOf("/") + 1)) as Rota;
}
