/**
 * What an LRUCache is made with that forgets the least lately used of more than `count`. With `max` it takes its whole room
 * when it is made, some 50 bytes an entry, which most boxes never fill.
 */
export const atMost = (count: number) => ({ maxSize: count, sizeCalculation: () => 1 });
