/**
 * A language model of random weights that a seed repeats, as a GGUF file: two layers, letters and bytes as tokens.
 *
 * It says nothing of sense; what an engine does with it is real: tokens, attention, sampling, grammars, ends.
 * Source: the GGUF specification, version 3 (github.com/ggml-org/ggml, docs/gguf.md); the tensor names of llama.
 */
import { writeFileSync } from "node:fs";
import { createRandom } from "../kill-loop/random.mjs";

const WIDTH = 64;
const INNER = 128;
const HEADS = 4;
const LAYERS = 2;
const CONTEXT = 8_192;
const ALIGNMENT = 32;
/** Codes of the format: types of values and of tokens. */
const VALUE = { uint32: 4, int32: 5, float32: 6, bool: 7, text: 8, array: 9 };
const TOKEN = { normal: 1, unknown: 2, control: 3, byte: 6 };

function listTokens() {
  const byte = (_, value) => ({ text: `<0x${value.toString(16).toUpperCase().padStart(2, "0")}>`, type: TOKEN.byte });
  const letter = (_, index) => ({ text: String.fromCharCode(33 + index), type: TOKEN.normal });
  return [
    { text: "<unk>", type: TOKEN.unknown },
    { text: "<s>", type: TOKEN.control },
    { text: "</s>", type: TOKEN.control },
    ...Array.from({ length: 256 }, byte),
    { text: "▁", type: TOKEN.normal },
    ...Array.from({ length: 94 }, letter),
  ];
}

function listTensors(vocabulary) {
  const square = [WIDTH, WIDTH];
  const layer = (index) =>
    Object.entries({
      attn_norm: [WIDTH],
      attn_q: square,
      attn_k: square,
      attn_v: square,
      attn_output: square,
      ffn_norm: [WIDTH],
      ffn_gate: [WIDTH, INNER],
      ffn_up: [WIDTH, INNER],
      ffn_down: [INNER, WIDTH],
    }).map(([name, shape]) => ({ name: `blk.${index}.${name}.weight`, shape }));
  return [
    { name: "token_embd.weight", shape: [WIDTH, vocabulary] },
    ...Array.from({ length: LAYERS }, (_, index) => layer(index)).flat(),
    { name: "output_norm.weight", shape: [WIDTH] },
    { name: "output.weight", shape: [WIDTH, vocabulary] },
  ];
}

const u32 = (value) => bytesOf(4, (view) => view.setUint32(0, value, true));
const i32 = (value) => bytesOf(4, (view) => view.setInt32(0, value, true));
const f32 = (value) => bytesOf(4, (view) => view.setFloat32(0, value, true));
const u64 = (value) => bytesOf(8, (view) => view.setBigUint64(0, BigInt(value), true));
const text = (value) => Buffer.concat([u64(Buffer.byteLength(value)), Buffer.from(value)]);
const WRITE = {
  uint32: u32,
  int32: i32,
  float32: f32,
  bool: (value) => Buffer.from([value ? 1 : 0]),
  text,
};

function bytesOf(length, fill) {
  const bytes = Buffer.alloc(length);
  fill(new DataView(bytes.buffer, bytes.byteOffset, length));
  return bytes;
}

const entry = (key, type, value) => Buffer.concat([text(key), u32(VALUE[type]), WRITE[type](value)]);
const list = (key, type, values) =>
  Buffer.concat([text(key), u32(VALUE.array), u32(VALUE[type]), u64(values.length), ...values.map(WRITE[type])]);

function listEntries(tokens) {
  return [
    entry("general.architecture", "text", "llama"),
    entry("general.name", "text", "random letters"),
    entry("llama.context_length", "uint32", CONTEXT),
    entry("llama.embedding_length", "uint32", WIDTH),
    entry("llama.block_count", "uint32", LAYERS),
    entry("llama.feed_forward_length", "uint32", INNER),
    entry("llama.attention.head_count", "uint32", HEADS),
    entry("llama.attention.head_count_kv", "uint32", HEADS),
    entry("llama.attention.layer_norm_rms_epsilon", "float32", 1e-5),
    entry("llama.rope.dimension_count", "uint32", WIDTH / HEADS),
    entry("llama.vocab_size", "uint32", tokens.length),
    entry("tokenizer.ggml.model", "text", "llama"),
    list(
      "tokenizer.ggml.tokens",
      "text",
      tokens.map((token) => token.text),
    ),
    list(
      "tokenizer.ggml.scores",
      "float32",
      tokens.map((_, index) => -index),
    ),
    list(
      "tokenizer.ggml.token_type",
      "int32",
      tokens.map(({ type }) => type),
    ),
    entry("tokenizer.ggml.unknown_token_id", "uint32", 0),
    entry("tokenizer.ggml.bos_token_id", "uint32", 1),
    entry("tokenizer.ggml.eos_token_id", "uint32", 2),
    entry("tokenizer.ggml.add_bos_token", "bool", true),
  ];
}

const padded = (bytes) => Buffer.concat([bytes, Buffer.alloc((ALIGNMENT - (bytes.length % ALIGNMENT)) % ALIGNMENT)]);

/** Norms are ones; all else is random, small enough that nothing runs away. */
function fillTensor({ name, shape }, random) {
  const isNorm = name.includes("norm");
  const values = Float32Array.from({ length: shape.reduce((product, size) => product * size, 1) }, () =>
    isNorm ? 1 : (random.below(2_001) - 1_000) / 4_000,
  );
  return padded(Buffer.from(values.buffer));
}

/** Writes the file; the same seed gives the same bytes. */
export function writeTinyModel(path, seed) {
  const random = createRandom(seed);
  const tokens = listTokens();
  const entries = listEntries(tokens);
  const tensors = listTensors(tokens.length).map((tensor) => ({ ...tensor, data: fillTensor(tensor, random) }));
  let offset = 0;
  const descriptions = tensors.map(({ name, shape, data }) => {
    const place = offset;
    offset += data.length;
    return Buffer.concat([text(name), u32(shape.length), ...shape.map(u64), u32(0), u64(place)]);
  });
  const head = [Buffer.from("GGUF"), u32(3), u64(tensors.length), u64(entries.length), ...entries, ...descriptions];
  writeFileSync(path, Buffer.concat([padded(Buffer.concat(head)), ...tensors.map(({ data }) => data)]));
}
