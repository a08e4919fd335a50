/**
 * Options of an LRUCache that drops the least recently used entry above `count`. With `max` it would reserve its whole
 * memory at once, some 50 bytes an entry, which most boxes never fill.
 */
export const atMost = (count: number) => ({ maxSize: count, sizeCalculation: () => 1 });
