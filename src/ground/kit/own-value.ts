/** The record's own value for a name that a person chose: undefined for `constructor` and the like. */
export function ownValue<T>(
  record: Readonly<Record<string, T>> | null,
  name: string,
): T | undefined {
  return record !== null && Object.hasOwn(record, name) ? record[name] : undefined;
}
