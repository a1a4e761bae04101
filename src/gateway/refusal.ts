import { status } from "@grpc/grpc-js";

/** A call that the gateway answers itself, with a gRPC status and a sentence. */
export class Refusal extends Error {
  readonly code: status;

  constructor(code: status, message: string) {
    super(message.length > LONGEST ? `${message.slice(0, LONGEST)}...` : message);
    this.name = "Refusal";
    this.code = code;
  }
}

/** In characters: callers choose the names in it, and it goes into a header and into the log. */
const LONGEST = 600;

/** Says that a caller may not do what it asked for. */
export const forbidden = (name: string, what: string): Refusal =>
  new Refusal(status.PERMISSION_DENIED, `${name} may not ${what}`);
