/** The time as Kubernetes writes it, in seconds: `2026-01-31T12:00:00Z`. */
export function now(date: Date = new Date()): string {
  return date.toISOString().replace(/\.\d+Z$/, "Z");
}

/** The time as Leases and Events want it, with exactly six digits after the point: `2026-01-31T12:00:00.000000Z`. */
export function microTime(date: Date = new Date()): string {
  return date.toISOString().replace("Z", "000Z");
}
