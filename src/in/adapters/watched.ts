/**
 * The keys that the project's rules use; they are kept first when an event has too many. Called only for such an event.
 */
export type WatchedKeys = () => ReadonlySet<string>;
