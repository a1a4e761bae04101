import { z } from "zod";

/**
 * Texts that an API server checks the form of when they are written. Parsing accepts any text, so that an object which
 * was stored before its kind had that form stays readable.
 */
const formed = (maxLength: number, pattern: string) => z.string().meta({ maxLength, pattern: `^(?:${pattern})$` });

const label = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?";
const subdomain = `${label}(?:\\.${label})*`;
const word = "[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?";

/** A DNS label, such as the name of a worker pool. */
export const dnsLabel = (maxLength = 63) => formed(maxLength, label);

/** A DNS subdomain in small letters, such as a domain or the name of a Secret. */
export const dnsSubdomain = () => formed(253, subdomain);

/** A name of an object, or nothing: upstream's clients write empty names where a reference has none. */
export const optionalName = () => formed(253, `|${subdomain}`);

/** An API version, such as `v1` or `apps/v1`. */
export const apiVersion = () => formed(317, `(?:${subdomain}/)?${label}`);

/** A word in CamelCase, such as a kind, a feature gate or an admission plugin. */
export const camelCase = () => formed(63, "[A-Za-z][A-Za-z0-9]*");

/** The key of a label, an annotation or a taint. */
export const labelKey = () => formed(317, `(?:${subdomain}/)?${word}`);

/** The value of a label or a taint. */
export const labelValue = () => formed(63, `|${word}`);

/** A version such as `1.34` or `1.34.4`. */
export const version = () => formed(63, "v?[0-9]+(?:\\.[0-9]+){0,2}(?:[-+][-+0-9A-Za-z.]+)?");

/** A text on one line, for people or for a flag, without control characters. */
export const line = (maxLength = 1024) => formed(maxLength, "[^\\x00-\\x1f\\x7f]*");
