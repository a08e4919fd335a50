import { ServiceError } from "./errors.ts";

const AGAIN_SECONDS = 2;

/** Another node serves what is asked for. */
export class ElsewhereError extends ServiceError {
  /** Where that node takes what is sent on, HOST:PORT; null: nowhere. */
  readonly address: string | null;
  /** Asked where that node doesn't take it: who has it next, or whose it may be. null: nobody knows yet. */
  readonly next: () => Promise<string | null>;

  constructor(address: string | null, next: () => Promise<string | null> = async () => null) {
    super("not_ready", "Another node serves this tenant: try again.", {
      retryAfter: AGAIN_SECONDS,
    });
    this.name = "ElsewhereError";
    this.address = address;
    this.next = next;
  }
}
