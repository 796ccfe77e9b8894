/** A view that a part of the page reads for itself, read again when its path or its version changes. */
import { useEffect, useRef, useState } from "preact/hooks";
import { read } from "./api.js";

export interface Resource<T> {
  readonly value?: T;
  readonly error?: Error;
  readonly isLoading: boolean;
}

const PAUSE_MS = 1500;

/**
 * Shape: what was read last stays while the next is on its way; another path begins empty.
 * Units: `version` is any number; while it changes quickly the path is read once in a second and a half.
 */
export function useResource<T>(path: string | undefined, version = 0): Resource<T> {
  const [state, setState] = useState<Resource<T> & { readonly path?: string }>({ isLoading: true });
  const current = useRef<string | undefined>(undefined);
  const readAt = useRef(0);
  if (current.current !== path) readAt.current = 0;
  current.current = path;
  useEffect(() => {
    if (path === undefined) return undefined;
    const settle = (change: Resource<T>): void => {
      if (current.current === path) setState({ ...change, path });
    };
    const timer = setTimeout(
      () => {
        readAt.current = Date.now();
        read<T>(path).then(
          (value) => settle({ value, isLoading: false }),
          (error: Error) => settle({ error, isLoading: false }),
        );
      },
      Math.max(0, readAt.current + PAUSE_MS - Date.now()),
    );
    return () => clearTimeout(timer);
  }, [path, version]);
  return state.path === path ? state : { isLoading: path !== undefined };
}
