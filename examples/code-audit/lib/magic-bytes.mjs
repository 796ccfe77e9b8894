/**
 * Owns the recognition of content by its first bytes. Knows nothing of names.
 *
 * `asset` is a medium for people (image, font, sound, film, document): it is no source and nobody expects to read it as
 * such. Everything else recognised here is `binary`: it may hold code, so it counts as not understood.
 */
import { Buffer } from "node:buffer";

const hex = (text) => Buffer.from(text.replaceAll(" ", ""), "hex");
const ascii = (text) => Buffer.from(text, "latin1");

const SIGNATURES = [
  { at: 0, bytes: hex("89 50 4e 47 0d 0a 1a 0a"), type: "PNG image", isAsset: true },
  { at: 0, bytes: hex("ff d8 ff"), type: "JPEG image", isAsset: true },
  { at: 0, bytes: ascii("GIF8"), type: "GIF image", isAsset: true },
  { at: 8, bytes: ascii("WEBP"), type: "WebP image", isAsset: true },
  { at: 4, bytes: ascii("ftypavif"), type: "AVIF image", isAsset: true },
  { at: 4, bytes: ascii("ftyp"), type: "MP4 or QuickTime film", isAsset: true },
  { at: 0, bytes: hex("00 00 01 00"), type: "Windows icon", isAsset: true },
  { at: 0, bytes: ascii("II*\u0000"), type: "TIFF image", isAsset: true },
  { at: 0, bytes: ascii("MM\u0000*"), type: "TIFF image", isAsset: true },
  { at: 0, bytes: ascii("wOF2"), type: "WOFF2 font", isAsset: true },
  { at: 0, bytes: ascii("wOFF"), type: "WOFF font", isAsset: true },
  { at: 0, bytes: hex("00 01 00 00 00"), type: "TrueType font", isAsset: true },
  { at: 0, bytes: ascii("OTTO"), type: "OpenType font", isAsset: true },
  { at: 0, bytes: ascii("%PDF-"), type: "PDF document", isAsset: true },
  { at: 0, bytes: ascii("OggS"), type: "Ogg sound or film", isAsset: true },
  { at: 0, bytes: ascii("ID3"), type: "MP3 sound", isAsset: true },
  { at: 8, bytes: ascii("WAVE"), type: "WAV sound", isAsset: true },
  { at: 0, bytes: ascii("fLaC"), type: "FLAC sound", isAsset: true },
  { at: 0, bytes: hex("1a 45 df a3"), type: "WebM or Matroska film", isAsset: true },
  { at: 0, bytes: hex("7f 45 4c 46"), type: "ELF executable or library", isProgram: true },
  { at: 0, bytes: hex("cf fa ed fe"), type: "Mach-O executable or library", isProgram: true },
  { at: 0, bytes: hex("ce fa ed fe"), type: "Mach-O executable or library", isProgram: true },
  { at: 0, bytes: ascii("\u0000asm"), type: "WebAssembly module", isProgram: true },
  { at: 0, bytes: hex("ca fe ba be 00 00 00"), type: "Java class or universal Mach-O", isProgram: true },
  { at: 0, bytes: ascii("!<arch>\n"), type: "static library or Debian package", isProgram: true },
  { at: 0, bytes: ascii("BC\u00c0\u00de"), type: "LLVM bitcode", isProgram: true },
  { at: 0, bytes: hex("50 4b 03 04"), type: "zip archive (zip, jar, whl, docx …)", isArchive: true },
  { at: 0, bytes: hex("1f 8b"), type: "gzip data", isArchive: true },
  { at: 0, bytes: ascii("BZh"), type: "bzip2 data", isArchive: true },
  { at: 0, bytes: hex("fd 37 7a 58 5a 00"), type: "xz data", isArchive: true },
  { at: 0, bytes: hex("28 b5 2f fd"), type: "zstd data", isArchive: true },
  { at: 0, bytes: hex("37 7a bc af 27 1c"), type: "7-zip archive", isArchive: true },
  { at: 0, bytes: ascii("Rar!"), type: "RAR archive", isArchive: true },
  { at: 257, bytes: ascii("ustar"), type: "tar archive", isArchive: true },
  { at: 0, bytes: ascii("SQLite format 3\u0000"), type: "SQLite database", isData: true },
  { at: 0, bytes: ascii("PAR1"), type: "Parquet table", isData: true },
  { at: 0, bytes: ascii("\u0093NUMPY"), type: "NumPy array", isData: true },
  { at: 0, bytes: ascii("DIRC"), type: "git index", isData: true },
  { at: 0, bytes: ascii("PACK"), type: "git pack", isData: true },
];

const MACHINES = new Map([
  [3, "x86"],
  [8, "MIPS"],
  [40, "ARM"],
  [62, "x86-64"],
  [183, "ARM64"],
  [243, "RISC-V"],
]);

/**
 * Recognises content by its first bytes; `undefined` when no signature fits.
 *
 * Shape: `{type, isAsset?, isProgram?, isArchive?, isData?}`.
 */
export function recogniseMagic(head) {
  for (const signature of SIGNATURES) {
    const end = signature.at + signature.bytes.length;
    if (head.length >= end && head.compare(signature.bytes, 0, signature.bytes.length, signature.at, end) === 0) {
      const { at: _at, bytes: _bytes, ...found } = signature;
      return found;
    }
  }
  return recogniseWindowsProgram(head);
}

function recogniseWindowsProgram(head) {
  if (head.length < 64 || head[0] !== 0x4d || head[1] !== 0x5a) return undefined;
  const at = head.readUInt32LE(60);
  const isPortable = at + 4 <= head.length && head.toString("latin1", at, at + 4) === "PE\u0000\u0000";
  return { type: isPortable ? "Windows executable or library" : "DOS executable", isProgram: true };
}

/** What the header of an ELF file says of the machine it is for; empty for other content. */
export function describeMachine(head) {
  if (head.length < 20 || head.readUInt32BE(0) !== 0x7f454c46) return "";
  const bits = head[4] === 2 ? "64-bit" : "32-bit";
  const machine = head[5] === 1 ? head.readUInt16LE(18) : head.readUInt16BE(18);
  return `${bits}, ${MACHINES.get(machine) ?? `machine ${machine}`}`;
}
