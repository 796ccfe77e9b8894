/** A task store of which some methods are replaced; the rest are those of the given one. */
import type { TaskStore } from "../../src/store/contract/contract.js";

export function wrapTask(task: TaskStore, replaced: Partial<TaskStore>): TaskStore {
  return {
    name: task.name,
    deliverablesFolder: task.deliverablesFolder,
    claim: (after) => task.claim(after),
    openSegment: (epoch, header, lines) => task.openSegment(epoch, header, lines),
    confirm: (epoch) => task.confirm(epoch),
    segments: () => task.segments(),
    read: (id) => task.read(id),
    removeSegment: (id) => task.removeSegment(id),
    putOnce: (key, bytes) => task.putOnce(key, bytes),
    get: (key, range) => task.get(key, range),
    list: (prefix) => task.list(prefix),
    remove: (...keys) => task.remove(...keys),
    destroy: (key) => task.destroy(key),
    watch: (prefix, hint) => task.watch(prefix, hint),
    sweep: () => task.sweep(),
    releaseReserve: () => task.releaseReserve(),
    ensureReserve: () => task.ensureReserve(),
    announce: (facts) => task.announce(facts),
    ownerState: () => task.ownerState(),
    close: () => task.close(),
    ...replaced,
  };
}
