import { CliError } from "../cli/exit.ts";

/** The URL of an API server that is given as HOST:PORT or as a URL; `called` is what gives it. Throws a CliError for all else. */
export function parseServerUrl(text: string, called: string): string {
  const url = URL.parse(text.includes("://") ? text : `https://${text}`);
  if (url?.protocol === "https:" && url.username === "" && url.pathname === "/" && url.search === "") return url.origin;
  throw new CliError("usage", `${called} cannot be "${text}": say HOST:PORT or https://HOST:PORT`);
}
