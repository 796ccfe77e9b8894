/**
 * Reads a zip file whose entries are stored as they are, and believes none of its numbers.
 *
 * Owns: the layout. Every entry is a part of the file itself, so what comes out is never larger than what came in: nothing
 * is expanded, copied or allocated for an entry. Entries must lie apart from each other and before the directory; one
 * place named many times is what bombs are made of.
 * Which names and sizes are welcome is the caller's business: it is asked entry by entry, before the entry is cut out.
 *
 * Source: APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16.
 */

/** What the directory says of one entry. */
export interface StoredEntry {
  readonly name: string;
  /** As stored, and as it is said to be when it is expanded. */
  readonly storedBytes: number;
  readonly sizeBytes: number;
  readonly isCompressed: boolean;
}

const END = { signature: 0x06054b50, bytes: 22 };
const CENTRAL = { signature: 0x02014b50, bytes: 46 };
const LOCAL = { signature: 0x04034b50, bytes: 30 };
const STORED = 0;

interface Place {
  readonly name: string;
  readonly headerAt: number;
  readonly from: number;
  readonly to: number;
}

/**
 * The entries by name, as views of `zip`.
 *
 * Shape: in the order of the directory. `admit` may throw; so does it for names that are there twice, which it is shown twice.
 * Errors: `refuse` makes the one that is thrown, from what is wrong in words.
 */
export function readStoredZip(
  zip: Uint8Array,
  { admit, refuse }: { readonly admit: (entry: StoredEntry) => void; readonly refuse: (what: string) => Error },
): Map<string, Uint8Array> {
  const bytes = Buffer.from(zip.buffer, zip.byteOffset, zip.byteLength);
  const end = bytes.length - END.bytes;
  if (end < 0 || bytes.readUInt32LE(end) !== END.signature) throw refuse("it cannot be read as a zip file: no end");
  const count = bytes.readUInt16LE(end + 10);
  const directory = bytes.readUInt32LE(end + 16);
  if (directory > end || directory + count * CENTRAL.bytes > end)
    throw refuse("it cannot be read as a zip file: its directory is not in it");
  const places: Place[] = [];
  for (let at = directory, left = count; left > 0; left -= 1) {
    if (at + CENTRAL.bytes > end || bytes.readUInt32LE(at) !== CENTRAL.signature)
      throw refuse("it cannot be read as a zip file: its directory ends too early");
    const nameAt = at + CENTRAL.bytes;
    const nameBytes = bytes.readUInt16LE(at + 28);
    const next = nameAt + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    if (next > end) throw refuse("it cannot be read as a zip file: its directory ends too early");
    const entry: StoredEntry = {
      name: bytes.toString("utf8", nameAt, nameAt + nameBytes),
      storedBytes: bytes.readUInt32LE(at + 20),
      sizeBytes: bytes.readUInt32LE(at + 24),
      isCompressed: bytes.readUInt16LE(at + 10) !== STORED,
    };
    admit(entry);
    places.push(locate(bytes, { entry, headerAt: bytes.readUInt32LE(at + 42), directory }, refuse));
    at = next;
  }
  requireApart(places, refuse);
  return new Map(places.map(({ name, from, to }) => [name, bytes.subarray(from, to)]));
}

/** Where the entry's bytes are, by its own header. */
function locate(
  bytes: Buffer,
  {
    entry,
    headerAt,
    directory,
  }: { readonly entry: StoredEntry; readonly headerAt: number; readonly directory: number },
  refuse: (what: string) => Error,
): Place {
  const { name, storedBytes, sizeBytes } = entry;
  if (storedBytes !== sizeBytes)
    throw refuse(`${JSON.stringify(name)} is said to have ${sizeBytes} bytes and has ${storedBytes}`);
  const isThere = headerAt + LOCAL.bytes <= directory && bytes.readUInt32LE(headerAt) === LOCAL.signature;
  if (!isThere) throw refuse(`${JSON.stringify(name)} is not where its directory says`);
  const from = headerAt + LOCAL.bytes + bytes.readUInt16LE(headerAt + 26) + bytes.readUInt16LE(headerAt + 28);
  const to = from + storedBytes;
  if (to > directory) throw refuse(`${JSON.stringify(name)} is longer than the file it is in`);
  return { name, headerAt, from, to };
}

function requireApart(places: readonly Place[], refuse: (what: string) => Error): void {
  let free = 0;
  for (const { name, headerAt, to } of [...places].sort((first, second) => first.headerAt - second.headerAt)) {
    if (headerAt < free) throw refuse(`${JSON.stringify(name)} lies over another file in it`);
    free = to;
  }
}
