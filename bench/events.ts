/** What the benchmarks send. */
interface BenchEvent {
  message: string;
  level: number;
  keys: { user: string; region: string };
  tags: string[];
}

/** 512 events of about 230 bytes, of 512 users, of which two thirds match rules. */
export function eventValues(n = 512): BenchEvent[] {
  return Array.from({ length: n }, (_, i) => ({
    message: `User ${i * 7} failed login from 10.0.${i % 250}.${(i * 3) % 250} after ${i} ms: the session store answered with status 503 and the request was given up`,
    level: (i % 3) * 100 + 200,
    keys: { user: `u${i}`, region: i % 2 ? "eu-west" : "us-east" },
    tags: ["auth", "prod"],
  }));
}

export const events = (n = 512): string[] => eventValues(n).map((event) => JSON.stringify(event));
