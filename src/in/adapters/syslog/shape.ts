/** One message of syslog, as far as it could be read: what can't be is text (contract §23). */
export interface SyslogMessage {
  /** 0 to 23. */
  facility: number;
  /** 0 (emergency) to 7 (debug). */
  severity: number;
  /** Unix seconds by the sender's clock; null where it says none. */
  at: number | null;
  /** Empty where it isn't said, like those below. */
  host: string;
  app: string;
  pid: string;
  msgid: string;
  /** Structured data: id, name and value of each parameter; of an element without any, its id alone. */
  data: readonly (readonly [id: string, name: string, value: string])[];
  /** Of some makers' own forms. */
  more: readonly (readonly [string, string])[];
  text: string;
}

/** What stands behind the priority. */
export type SyslogBody = Omit<SyslogMessage, "facility" | "severity"> & { severity?: number };
