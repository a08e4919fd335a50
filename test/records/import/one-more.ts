/** Copies of a value, each with one more field, `unheard_of`, in one of its records; those under `but` have no fields. */
export function withOneMore(
  value: unknown,
  but: readonly string[] = [],
): { at: string; value: unknown }[] {
  if (Array.isArray(value))
    return value.flatMap((one, i) =>
      withOneMore(one, but).map((found) => ({
        at: `${i}/${found.at}`,
        value: value.with(i, found.value),
      })),
    );
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.entries(value)
    .filter(([key]) => !but.includes(key))
    .flatMap(([key, one]) =>
      withOneMore(one, but).map((found) => ({
        at: `${key}/${found.at}`,
        value: { ...value, [key]: found.value },
      })),
    );
  return [{ at: "", value: { ...value, unheard_of: "x" } }, ...inner];
}
