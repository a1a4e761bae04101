/** The `systemctl` of a bare machine whose units a runner starts: hands its words to that, and ends as it says. */
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { SOCKET } from "../places.ts";
import type { Answer } from "../answer.ts";

if (import.meta.main) await main(process.argv.slice(2));

async function main(words: readonly string[]): Promise<void> {
  const connection = connect({ path: SOCKET, allowHalfOpen: true });
  connection.end(JSON.stringify(words));
  try {
    const { code, stdout, stderr } = JSON.parse(await text(connection)) as Answer;
    process.stdout.write(stdout);
    process.stderr.write(stderr);
    process.exitCode = code;
  } catch (error) {
    process.stderr.write(`the runner of this machine does not answer: ${String(error)}\n`);
    process.exitCode = 1;
  }
}
