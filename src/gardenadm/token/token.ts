import { readFile } from "node:fs/promises";
import { CliError } from "../../cli/exit.ts";
import { matchBootstrapToken, type BootstrapToken } from "../../kube/bootstrap-token.ts";
import type { GardenadmContext } from "../context.ts";

/** Where the command line says that a token is. */
export interface TokenPlace {
  /** The token itself, or `-` for standard input. */
  readonly token?: string | undefined;
  readonly bootstrapTokenFile?: string | undefined;
}

/** The token of the command line, of a file or of standard input; undefined where none is named. Throws how it has to be. */
export async function readToken(
  { token, bootstrapTokenFile: file }: TokenPlace,
  context: Pick<GardenadmContext, "input">,
): Promise<BootstrapToken | undefined> {
  if (token !== undefined && file !== undefined)
    throw new CliError("usage", "there are two bootstrap tokens: leave out --bootstrap-token-file, or the other one");
  if (file !== undefined) return parseToken(await readTokenFile(file), `in ${file}`);
  if (token === "-") return parseToken(await context.input(), "on standard input");
  return token === undefined ? undefined : parseToken(token, "given");
}

async function readTokenFile(file: string): Promise<string> {
  return await readFile(file, "utf8").catch((cause: Error) => {
    throw new CliError("usage", `cannot read ${file}: name a file with a bootstrap token by --bootstrap-token-file`, {
      cause,
    });
  });
}

/** Never says what the text is: a misspelt token is nearly one. */
function parseToken(text: string, place: string): BootstrapToken {
  const token = matchBootstrapToken(text.trim());
  if (token !== undefined) return token;
  throw new CliError(
    "usage",
    `the bootstrap token ${place} is misshapen: it has to be 6 of a-z and 0-9, a dot, and 16 of a-z and 0-9, as 'gardenadm token generate' makes one`,
  );
}
