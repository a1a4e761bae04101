/** The data of a Secret as text, by their keys. */
export const decodeData = (data: Readonly<Record<string, string>>): Record<string, string> =>
  mapped(data, (value) => Buffer.from(value, "base64").toString());

/** The same the other way round. */
export const encodeData = (texts: Readonly<Record<string, string>>): Record<string, string> =>
  mapped(texts, (text) => Buffer.from(text).toString("base64"));

const mapped = (entries: Readonly<Record<string, string>>, change: (value: string) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, change(value)]));
