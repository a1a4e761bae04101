/** The lines by which Temporal shows activities and timers. */

/** The summary of what a step does or waits for. */
export const summaryOf = (step: string, what: string): string => oneLine(`${step}: ${what}`);

/** The step of a summary: all of it, or what stands before the colon; undefined for what belongs to no step. */
export const stepOfSummary = (summary: string): string | undefined => /^(\w+)(?:: |$)/.exec(summary)?.[1];

/**
 * A text that Temporal shows, cut where it is too long: Temporal refuses summaries of more than 400 bytes, and the whole
 * task with them. Encryption adds some 130.
 */
export function oneLine(text: string, bytes = 240): string {
  const line = text.replace(/\s+/g, " ");
  if (bytesOf(line) <= bytes) return line;
  let characters = [...line.slice(0, bytes)];
  while (bytesOf(characters.join("")) > bytes - 3) characters = characters.slice(0, -1);
  return `${characters.join("")}…`;
}

/** As JSON, which is how it is sent. */
const bytesOf = (text: string): number => new TextEncoder().encode(JSON.stringify(text)).length;
