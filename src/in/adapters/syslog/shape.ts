/** A parsed syslog message. What couldn't be parsed is in the text (contract §23). */
export interface SyslogMessage {
  /** 0 to 23. */
  facility: number;
  /** 0 (emergency) to 7 (debug). */
  severity: number;
  /** Unix seconds by the sender's clock; null where missing. */
  at: number | null;
  /** Empty where missing, like those below. */
  host: string;
  app: string;
  pid: string;
  msgid: string;
  /** Structured data: id, name and value of each parameter; an element without parameters has only its id. */
  data: readonly (readonly [id: string, name: string, value: string])[];
  /** Fields of some vendors' formats. */
  more: readonly (readonly [string, string])[];
  text: string;
}

/** The part after the priority. */
export type SyslogBody = Omit<SyslogMessage, "facility" | "severity"> & { severity?: number };
