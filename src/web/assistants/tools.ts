import { invalid, ServiceError } from "../../ground/kit/errors.ts";
import type { AskBox, BoxReply, BoxRequest } from "./ask.ts";
import type { Operations } from "./operations.ts";

type Input = Readonly<Record<string, unknown>>;

/** What only reads: the operation of the interface that a tool asks, and what an assistant should know beside its summary. */
export const reading: Readonly<Record<string, { asks: string; says?: string }>> = {
  overview: { asks: "getOverview" },
  list_alerts: { asks: "listAlerts", says: "Begin with state=open and a limit of 20." },
  get_alert: { asks: "getAlertDetail" },
  why_paged: { asks: "getAlertPages" },
  alert_timeline: { asks: "getAlertTimeline" },
  alert_lines: { asks: "getAlertLines" },
  log_lines: { asks: "readLogTail" },
  search: { asks: "search" },
  on_call: { asks: "onCallGrid" },
  numbers: { asks: "getNumbers" },
  advice: { asks: "listAdvice" },
  list_projects: { asks: "listProjects" },
  list_rules: { asks: "listRules" },
  list_silences: { asks: "listSilences", says: "With state=active only those that hold now." },
  list_reports: { asks: "listReports" },
  dry_run: { asks: "tryRule" },
  simulate: { asks: "simulateRule" },
  draft_report_entry: { asks: "draftReportEntry" },
};

/** What a plan would do, and what it would change. */
export interface Prepared {
  /** In words. */
  effect: string;
  request: BoxRequest;
  /** The plan holds only as long as this is the same. */
  basis: unknown;
  /** What else the box says of it, where it takes longer to find out; not asked again when the plan is carried out. */
  preview(): Promise<unknown>;
}

interface Preparation {
  says: string;
  input(operations: Operations): Input | null;
  look(input: Input, box: Box): Promise<Prepared>;
}

/** The box as a preparation asks it. */
export interface Box {
  ask: AskBox;
  /** Throws 404 for an operation that this box doesn't have. */
  operation(name: string): NonNullable<ReturnType<Operations>>;
}

/** What the box answered. Throws RefusedByBox where it refused. */
export async function answerOf(ask: AskBox, asked: BoxRequest): Promise<unknown> {
  const answer = await ask(asked);
  if (answer.status >= 400) throw new RefusedByBox(answer);
  return answer.body;
}

/** The box's own refusal: shown to the assistant as it came. */
export class RefusedByBox extends Error {
  readonly answer: BoxReply;

  constructor(answer: BoxReply) {
    super(`The box refused: ${answer.status}`);
    this.answer = answer;
  }
}

const nothing = () => Promise.resolve(null);
const inputOf = (name: string) => (operations: Operations) => operations(name)?.input ?? null;

/** What is prepared and shown as a plan. What carries it out is the one tool `act`. */
export const preparing: Readonly<Record<string, Preparation>> = {
  prepare_alert_change: {
    says: "Plan to acknowledge, un-acknowledge or resolve alerts by their ids",
    input: () => ({
      type: "object",
      properties: {
        ids: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 20 },
        verb: { enum: ["acknowledge", "unack", "resolve"] },
      },
      required: ["ids", "verb"],
      additionalProperties: false,
    }),
    look: lookAtAlerts,
  },
  prepare_silence: {
    says: "Plan a silence, with the alerts that it would keep quiet now and would have in the past seven days",
    input: inputOf("createSilence"),
    async look(input, { ask, operation }) {
      const preview = await answerOf(ask, operation("previewSilence").request(input));
      const { alerts, open } = preview as { alerts: string[]; open: number };
      return {
        effect: `A silence is made. ${open === 1 ? "One open alert is" : `${open} open alerts are`} quiet at once, and further ones that it matches: their messages are held back until it ends, and nobody is paged for them.`,
        request: operation("createSilence").request(input),
        basis: { alerts, open },
        preview: () => Promise.resolve(preview),
      };
    },
  },
  prepare_rule: {
    says: "Plan a new rule, or the replacement of one (give every field: what is left out goes back to its default), with a dry run on the kept lines and whom it would page",
    input: inputOf("createRule"),
    look: lookAtRule,
  },
  prepare_report: {
    says: "Plan a new incident report, without a password. Its page is public to whoever has its link",
    input: (operations) => without(operations("createReport")?.input, "view_password"),
    async look(input, { operation }) {
      if ("view_password" in input)
        throw invalid([{ field: "/view_password", reason: "is set by a person, not by this" }]);
      return {
        effect: "A report is made, without entries.",
        request: operation("createReport").request(input),
        basis: null,
        preview: nothing,
      };
    },
  },
  prepare_report_entry: {
    says: "Plan an entry of a report. draft_report_entry gives a first text from the alert's history",
    input: inputOf("addReportEntry"),
    async look(input, { ask, operation }) {
      const { project, report, ...entry } = input;
      const of = { project, report };
      const before = await answerOf(ask, operation("getReport").request(of));
      return {
        effect: "The entry is added to the report, where whoever has its link reads it at once.",
        request: operation("addReportEntry").request(input),
        basis: before,
        preview: () => answerOf(ask, operation("previewReportEntry").request({ ...of, ...entry })),
      };
    },
  },
};

function without(schema: Input | undefined, field: string): Input | null {
  if (schema === undefined) return null;
  const { [field]: _, ...properties } = schema["properties"] as Input;
  return { ...schema, properties };
}

const EFFECTS: Readonly<Record<string, string>> = {
  acknowledge:
    "These alerts are acknowledged in the person's name: their ladders stop, and nobody else is paged for them.",
  unack: "The acknowledgement is taken back: the ladders go on, and people are paged.",
  resolve: "These alerts end. Nobody is paged for them any more; a new event opens new ones.",
};

async function lookAtAlerts(input: Input, { ask, operation }: Box): Promise<Prepared> {
  const { ids, verb, ...more } = input;
  const effect = EFFECTS[String(verb)];
  if (effect === undefined)
    throw invalid([{ field: "/verb", reason: "must be acknowledge, unack or resolve" }]);
  const isList = Array.isArray(ids) && ids.every((id) => typeof id === "string");
  if (!isList || ids.length === 0 || ids.length > 20)
    throw invalid([{ field: "/ids", reason: "must be a list of 1 to 20 ids" }]);
  const request = operation("changeAlerts").request({ ids, verb, ...more });
  const alerts: Input[] = [];
  for (const alert of ids)
    alerts.push((await answerOf(ask, operation("getAlert").request({ alert }))) as Input);
  return {
    effect,
    request,
    basis: alerts.map(({ id, state, acked_by, level }) => ({ id, state, acked_by, level })),
    preview: () => Promise.resolve({ alerts }),
  };
}

async function lookAtRule(input: Input, { ask, operation }: Box): Promise<Prepared> {
  const { project, ...rule } = input;
  const named = { project, rule: rule["name"] };
  const found = await ask(operation("getRule").request(named));
  if (found.status !== 404 && found.status >= 400) throw new RefusedByBox(found);
  const before = found.status === 404 ? null : found.body;
  const request =
    before === null
      ? operation("createRule").request(input)
      : operation("replaceRule").request({ ...named, ...rule });
  const versus = before === null ? {} : { versus: rule["name"] };
  return {
    effect:
      before === null
        ? "A rule is made: from then on events that match open alerts and page people by its ladder."
        : "The rule is replaced as a whole, for what comes from then on. Compare `before` with the request, field by field.",
    request,
    basis: before,
    preview: async () => ({
      before,
      dry_run: await answerOf(ask, operation("tryRule").request({ project, rule, ...versus })),
      pages: await answerOf(ask, operation("simulateRule").request({ project, rule })),
    }),
  };
}

export function missing(name: string): ServiceError {
  return new ServiceError("not_found", `This box has no ${name}.`);
}
