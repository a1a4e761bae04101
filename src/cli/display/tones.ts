import { inspect } from "node:util";

/** The few colours that carry a meaning. */
export type Tone = "good" | "bad" | "attention" | "quiet" | "strong";

/** What styleText calls each. */
export const formats = { good: "green", bad: "red", attention: "yellow", quiet: "gray", strong: "bold" } as const;

/** The text with a `?` for each control character other than line breaks, tabs and those of tones. */
export function withoutCommands(text: string): string {
  return text.replaceAll(commands, "?");
}

/** styleText writes a tone as one number, and its end as another. */
const tones = Object.values(formats).flatMap((format) => inspect.colors[format] ?? []);
const commands = new RegExp(`(?!\\n|\\t|\u001B\\[(?:${tones.join("|")})m)\\p{Cc}`, "gu");
