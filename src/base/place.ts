/**
 * Where the number of a process means something: one boot of one machine, and one namespace of processes in it.
 *
 * A host's name proves nothing: clones, `localhost` and the pods of one set share theirs. A boot has an identity of its own, so
 * two equal ones are one kernel. That a machine was booted since is proven only where it is known to be the same machine: by an
 * identity that was given to it, or by its own where the process saw the whole machine and not a container, whose image may
 * bring an identity along.
 */
export interface Place {
  /** For people. */
  readonly host: string;
  /** Empty where the system does not tell; `given:` before one that a person gave. */
  readonly machineId: string;
  /** Of this boot; empty where the system does not tell. */
  readonly bootId: string;
  /** Of process numbers; empty where the system has no namespaces. */
  readonly namespace: string;
}

/** Beginning of a machine's identity that a person gave. */
export const GIVEN_MACHINE = "given:";
/** The namespace that the kernel starts with has this number on every machine. */
const WHOLE_MACHINE = "pid:[4026531836]";

/** True where a number of the one place means the same process in the other. */
export function isSamePlace(first: Place, second: Place): boolean {
  if (first.bootId === "" || first.bootId !== second.bootId || first.namespace !== second.namespace) return false;
  return first.namespace !== "" || first.host === second.host;
}

/** True where both are one kernel, in whatever namespace. */
export function isSameKernel(first: Place, second: Place): boolean {
  return first.bootId !== "" && first.bootId === second.bootId;
}

/** True where it is proven that the machine of `then` was booted since: whatever ran then does not run `now`. */
export function hasBootedSince(then: Place, now: Place): boolean {
  if (then.machineId === "" || then.machineId !== now.machineId) return false;
  if (then.bootId === "" || now.bootId === "" || then.bootId === now.bootId) return false;
  if (then.machineId.startsWith(GIVEN_MACHINE)) return true;
  return then.host === now.host && isWholeMachine(then) && isWholeMachine(now);
}

function isWholeMachine({ namespace }: Place): boolean {
  return namespace === WHOLE_MACHINE;
}
