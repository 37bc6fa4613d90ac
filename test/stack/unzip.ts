import { crc32, inflateRawSync } from "node:zlib";

/** Where the fields of a ZIP file's records stand (APPNOTE 6.3, sections 4.3.7, 4.3.12 and 4.3.16). */
const END = { signature: 0x06054b50, bytes: 22, entries: 10, directory: 16 };
const ENTRY = {
  signature: 0x02014b50,
  bytes: 46,
  method: 10,
  crc: 16,
  packed: 20,
  name: 28,
  extra: 30,
  comment: 32,
  at: 42,
};
const LOCAL = { signature: 0x04034b50, bytes: 30, name: 26, extra: 28 };

/** The files of a ZIP file as text, by their names, each held to its checksum; throws for one that is not whole. */
export function unzip(zip: Buffer): Map<string, string> {
  const end = zip.length - END.bytes;
  if (end < 0 || zip.readUInt32LE(end) !== END.signature) throw new Error("the ZIP file has no end");
  const files = new Map<string, string>();
  let at = zip.readUInt32LE(end + END.directory);
  for (let left = zip.readUInt16LE(end + END.entries); left > 0; left -= 1) {
    if (zip.readUInt32LE(at) !== ENTRY.signature) throw new Error("the directory of the ZIP file is broken");
    const nameBytes = zip.readUInt16LE(at + ENTRY.name);
    const name = zip.toString("utf8", at + ENTRY.bytes, at + ENTRY.bytes + nameBytes);
    const local = zip.readUInt32LE(at + ENTRY.at);
    if (zip.readUInt32LE(local) !== LOCAL.signature) throw new Error(`${name} does not begin`);
    const start = local + LOCAL.bytes + zip.readUInt16LE(local + LOCAL.name) + zip.readUInt16LE(local + LOCAL.extra);
    const packed = zip.subarray(start, start + zip.readUInt32LE(at + ENTRY.packed));
    const content = zip.readUInt16LE(at + ENTRY.method) === 0 ? packed : inflateRawSync(packed);
    if (crc32(content) !== zip.readUInt32LE(at + ENTRY.crc)) throw new Error(`${name} is broken`);
    files.set(name, content.toString());
    at += ENTRY.bytes + nameBytes + zip.readUInt16LE(at + ENTRY.extra) + zip.readUInt16LE(at + ENTRY.comment);
  }
  return files;
}
