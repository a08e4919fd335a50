/**
 * The names of keys that the project's rules look at, those that are kept first of too many. Asked for only where an
 * event has more keys than it may hold.
 */
export type WatchedKeys = () => ReadonlySet<string>;
