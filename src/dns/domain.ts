/** A name as it is compared: DNS does not tell capitals from small letters, nor a name from one with a dot at its end. */
export const canonicalName = (name: string): string => name.toLowerCase().replace(/\.$/, "");

/** Whether a domain is `parent`, or lies below it. */
export function isWithin(domain: string, parent: string): boolean {
  const [name, above] = [canonicalName(domain), canonicalName(parent)];
  return name === above || name.endsWith(`.${above}`);
}
