import { readFileSync } from "node:fs";
import { request } from "node:https";

/** Who asks. */
export type Identity = { readonly token: string } | { readonly cert: string; readonly key: string };

/** Reads an object of an API server within 20 seconds; throws with its answer if that is none. */
export async function requestJson(
  { server, caFile }: { readonly server: string; readonly caFile: string },
  path: string,
  identity: Identity,
): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const headers = { accept: "application/json" };
  const asked = request(new URL(path, server), {
    ca: readFileSync(caFile),
    signal: AbortSignal.timeout(20_000),
    ...("token" in identity
      ? { headers: { ...headers, authorization: `Bearer ${identity.token}` } }
      : { ...identity, headers }),
  });
  asked.once("error", reject);
  asked.once("response", (answer) => {
    let text = "";
    answer.setEncoding("utf8");
    answer.on("data", (part: string) => (text += part));
    answer.once("error", reject);
    answer.once("end", () => {
      if (answer.statusCode === 200) resolve(JSON.parse(text));
      else reject(new Error(`cannot read ${path}: ${answer.statusCode} ${text.slice(0, 200)}`));
    });
  });
  asked.end();
  return await promise;
}
