/** One metric, with all of its samples. */
export interface Family {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** One sentence. */
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** One figure; `suffix` follows the metric's name, such as `_sum` of a histogram. */
export interface Sample {
  readonly suffix?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The metrics as Prometheus reads them: text format 0.0.4, each line with its end. */
export function exposition(families: readonly Family[]): string {
  return families
    .flatMap(({ name, type, help, samples }) => [
      `# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`,
      `# TYPE ${name} ${type}`,
      ...samples.map(({ suffix = "", labels, value }) => `${name}${suffix}${inBraces(labels)} ${value}`),
    ])
    .map((line) => `${line}\n`)
    .join("");
}

function inBraces(labels: Sample["labels"]): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

const escape = (value: string): string => value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
