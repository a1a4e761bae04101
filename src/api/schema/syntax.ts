import { z } from "zod";
import { intOrString } from "./fields.ts";

/**
 * Texts that an API server checks the form of when they are written; `form` completes "is not" for admission, which says so
 * in words. Parsing accepts any text, so that an object which was stored before its kind had that form stays readable.
 */
const formed = (maxLength: number, pattern: string, form: string) =>
  z.string().meta({ maxLength, pattern: `^(?:${pattern})$`, form });

const label = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?";
const subdomain = `${label}(?:\\.${label})*`;
const shortLabel = "[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?";
const word = "[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?";

/** A DNS label, such as the name of a worker pool. */
export const dnsLabel = (maxLength = 63) => formed(maxLength, label, "a DNS label: small letters, digits and hyphens");

/** A DNS subdomain in small letters, such as the name of a Secret. */
export const dnsSubdomain = () =>
  formed(253, subdomain, "a name: small letters, digits and hyphens, in parts between dots");

/** A domain below which there is room for names such as `api`: its parts are as long as DNS allows. */
export const domain = () =>
  formed(
    240,
    `${shortLabel}(?:\\.${shortLabel})*`,
    "a domain: small letters, digits and hyphens, in parts of at most 63 characters between dots",
  );

/** A name of an object, or nothing: upstream's clients write empty names where a reference has none. */
export const optionalName = () =>
  formed(253, `|${subdomain}`, "a name: small letters, digits and hyphens, in parts between dots");

/** An API version, such as `v1` or `apps/v1`. */
export const apiVersion = () => formed(317, `(?:${subdomain}/)?${label}`, "an API version such as v1 or apps/v1");

/** A word in CamelCase, such as a kind, a feature gate or an admission plugin. */
export const camelCase = () => formed(63, "[A-Za-z][A-Za-z0-9]*", "a word of letters and digits");

/** A word that names something of a provider's: a volume type, a restriction. */
export const identifier = () => formed(253, word, "a name: letters, digits and - _ . between letters or digits");

/** The key of a label, an annotation or a taint. */
export const labelKey = () => formed(317, `(?:${subdomain}/)?${word}`, "a key such as example.com/name");

/** The value of a label or a taint. */
export const labelValue = () =>
  formed(63, `|${word}`, "a value of letters, digits and - _ . between letters or digits");

/** A version such as `1.34` or `1.34.4`. */
export const version = () =>
  formed(63, "v?[0-9]+(?:\\.[0-9]+){0,2}(?:[-+][-+0-9A-Za-z.]+)?", "a version such as 1.34.4");

/** A text on one line, for people or for a flag, without control characters. */
export const line = (maxLength = 1024) => formed(maxLength, "[^\\x00-\\x1f\\x7f]*", "a text on one line");

/**
 * A duration as Go writes it, such as `1h30m`. No setting of ours has a use for a negative one. Its numbers are so short that no sum of
 * six exceeds what Go can hold, 292 years.
 */
export const duration = () => {
  const longest = { h: 5, m: 7, s: 9, ms: 12, us: 15, µs: 15, μs: 15, ns: 18 };
  const parts = Object.entries(longest).map(([unit, digits]) => `[0-9]{1,${digits}}(?:\\.[0-9]*)?${unit}`);
  return formed(64, `(?:${parts.join("|")}){1,6}|0`, "a duration such as 30s or 1h30m");
};

/** A network in CIDR notation; whether its numbers are in their ranges is for admission to say. */
export const network = () =>
  formed(49, "[0-9A-Fa-f:.]+/[0-9]{1,3}", "a network in CIDR notation, such as 10.96.0.0/16");

/** A time of day with its offset from UTC, as in a maintenance window. */
export const timeOfDay = () =>
  formed(
    11,
    "(?:[01][0-9]|2[0-3])[0-5][0-9][0-5][0-9][+-](?:[01][0-9]|2[0-3])[0-5][0-9]",
    "a time of day with its zone, HHMMSS±HHMM, such as 220000+0100",
  );

/** When something happens, in the five fields of cron (minute, hour, day of the month, month, day of the week), or in one of its words. */
export const cron = () => {
  const field = (number: string) => {
    const range = `(?:[*?]|${number}(?:-${number})?)(?:/[0-9]{1,2})?`;
    return `${range}(?:,${range})*`;
  };
  const month = "(?:0?[1-9]|1[0-2]|[A-Za-z]{3})";
  const fields = [
    "[0-5]?[0-9]",
    "(?:[01]?[0-9]|2[0-3])",
    "(?:0?[1-9]|[12][0-9]|3[01])",
    month,
    "(?:[0-7]|[A-Za-z]{3})",
  ];
  const words = "@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)";
  const form = 'a schedule in the five fields of cron, such as "0 20 * * 1-5"';
  return formed(256, `${words}|${fields.map(field).join(" +")}`, form);
};

/** A time zone by its name, or nothing, which is UTC. */
export const timeZone = () =>
  formed(64, "|[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*", "a time zone such as Europe/Berlin");

const number = "[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+";
const amount = `(?:${number})(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?`;

/** An amount such as `500m` or `20Gi`; also a bare number. No amount of ours is negative. */
export const quantity = () => numberOr(amount, "an amount such as 500m or 20Gi");

/** An amount that is written as a text. */
export const quantityText = () => formed(64, amount, "an amount such as 20Gi");

/** An amount, or a part of all that there is. */
export const amountOrShare = () =>
  numberOr(`${amount}|(?:${number})%`, "an amount such as 200Mi, or a percentage such as 5%");

/** How many of a pool's machines: a number, or a part of all. */
export const share = () =>
  numberOr("(?:100|[0-9]{1,2})%", "a number of machines, or a percentage between 0% and 100%", MOST);

function numberOr(pattern: string, form: string, maximum = Number.MAX_SAFE_INTEGER) {
  const bounds = { minimum: 0, maximum, maxLength: 64 };
  return intOrString().meta({ ...bounds, "x-kubernetes-int-or-string": true, pattern: `^(?:${pattern})$`, form });
}

/** What fits into 32 bits. */
const MOST = 2 ** 31 - 1;

/** A number that counts something: whole, not negative unless told otherwise, and of 32 bits. */
export const count = (minimum = 0, maximum = MOST) => z.int32().meta({ minimum, maximum });
