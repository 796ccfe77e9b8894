/** The code of what a call throws, or `none`; foreign errors show as themselves so that they never pass for a code. */
import { errorCodeOf, messageOf, type SplashdownError } from "../../src/base/errors.js";

export function codeOf(act: () => unknown): string {
  try {
    act();
    return "none";
  } catch (error) {
    return errorCodeOf(error) ?? `foreign: ${messageOf(error)}`;
  }
}

export async function codeOfAsync(act: () => Promise<unknown>): Promise<string> {
  try {
    await act();
    return "none";
  } catch (error) {
    return errorCodeOf(error) ?? `foreign: ${messageOf(error)}`;
  }
}

/** What a call rejects with; fails when it does not, or with something foreign. */
export async function refusalOf(act: () => Promise<unknown>): Promise<SplashdownError> {
  let answer: unknown;
  try {
    answer = await act();
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return error as SplashdownError;
  }
  throw new Error(`expected a refusal, got ${typeof answer}`);
}
