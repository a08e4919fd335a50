/** What a record has itself under a name that somebody chose; undefined for what every object has, like `constructor`. */
export function ownValue<T>(
  record: Readonly<Record<string, T>> | null,
  name: string,
): T | undefined {
  return record !== null && Object.hasOwn(record, name) ? record[name] : undefined;
}
