/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The grammar of a recording's files, beside the constants it is written with. Only common/
 * includes this; everybody else uses recording.h.
 *
 * Numbers in headers are little-endian. `var` is a LEB128 varint of at most 64 bits: seven bits a
 * byte, lowest first, the top bit says that more follow. `name*n` is n times name.
 *
 * file        = { frame }          ; a frame that is cut or damaged ends the file
 * frame       = header payload
 * header      = magic:u32 type:u8 codec:u8 flags:u16 raw_len:u32 stored_len:u32
 *               count:u32 key0:u64 key1:u64 payload_crc:u32 header_crc:u32
 * payload     = stored_len bytes, which decode by codec to raw_len bytes
 * payload_crc = CRC-32 of the payload as stored
 * header_crc  = CRC-32 of the LZ_FRAME_HEADER - 4 bytes before it
 *
 * DIR/events      = { EVENTS | FILE | SYNC | CHUNK }
 *   EVENTS: key0 = index of the first event, key1 = its marker offset, count = events.
 *           With the flag LZ_EVENTS_PLAIN all of them are plain (lz_event_plain()).
 *           { length:u32 event }, event as in common/recording/event_codec.c:
 *     event   = kind:u8 present:u8 flags:var tid:var number:var marker:var ip:var time:var
 *               map_id:var body [regs] [xstate] [writes] [ops] [taken]
 *               [state] [pages]
 *               ; present: LZ_EVP_* says which
 *     body    = SYSCALL: nr:var arg:var*6 result:var [next:var]  ; if LZ_EVF_THREAD_BORN
 *             | SIGNAL: signo:var siginfo:128 bytes
 *             | INSN: insn:var | EXIT: status:var
 *             | SWITCH: next:var [nr:var arg:var*6]     ; if LZ_EVF_IN_CALL
 *             | SHARED: nothing
 *     regs    = struct user_regs_struct, as in memory
 *     xstate  = len:var bytes
 *     writes  = n:var { addr:var len:var [n_kept:var] (bytes | kept*n_kept) }
 *               ; with LZ_EVP_KEPT n_kept is there, and 0 stands for bytes
 *     kept    = chunk:var at:var len:var  ; together as long as the write, none is empty
 *     ops     = n:var { op:u8 addr:var len:var prot:var flags:var file:var offset:var
 *                       old_addr:var old_len:var }
 *     state   = u64
 *     pages   = vectors:u64 n:var { pages:var sum:u64 }
 *               ; pages: from the one before, from address 0 for the first; only with a state
 *   FILE:   key0 = index in the file table, count = 1.
 *           path copy build_id size:var crc:u32
 *           ; each text is len:var bytes; CRC-32 of the copy
 *   CHUNK:  key0 = its number, counted from the program's start, without gaps. Bytes for events
 *           behind it, in the same part: raw_len is 1 to LZ_CHUNK_MAX. What many events have read
 *           of a file is stored once.
 *   SYNC:   everything before it is a consistent prefix. key0 = events, key1 = checkpoints,
 *           count = threads, { tid:u32 markers:u64 } sorted by tid
 *
 * DIR/markers-TID = { MARKERS | HASHED }  ; TID: of the first thread
 *   MARKERS: key0 = stream offset of its first byte, which begins a marker; raw_len <= LZ_BLOCK_MAX
 *   HASHED:  a block that is not stored. key0 = as above, count = its bytes, 1 to LZ_BLOCK_MAX,
 *            key1 = checksum of its bytes: XXH3 of 64 bits with the flag LZ_HASHED_XXH3, XXH64 of
 *            seed 0 with LZ_HASHED_XXH64 (format 11), else Adler-32 << 32 | CRC-32 (format 10).
 *            No payload; codec 0
 *
 * DIR/index/markers-TID = { MARKERS }  ; made by readers: HASHED blocks, computed again
 *   MARKERS: key0 and raw_len are those of the block. In any order; of two for one block the later
 *            one counts. Whoever reads one compares it with the checksum in HASHED.
 *
 * DIR/checkpoints = { HEAD { PAGES } }
 *   HEAD:   key0 = position's event, key1 = its marker, count = dirty pages,
 *           flags = LZ_HEAD_WHOLE or 0.
 *     head    = index:var kind:u8 pos time:var map_id:var brk:var stack_limit:var
 *               stack_start:var pos_offset:var
 *               n:var thread*n  n:var vma*n  page*count
 *     kind    = 1 (whole) + 2 (lists every page that was written to, changed or not)
 *     pos     = tid:var n:var event:var marker:var ip:var
 *     thread  = tid:var flags:var regs xstate marker:var buffer:var buffer_start:var
 *               ; the running one first; one stream: the last three are the same in all
 *     vma     = start:var pages:var prot:var flags:var file:var role:var offset:var
 *               ; start - end of the one before, in pages
 *     page    = var                       ; page number - the one before, so ascending
 *   PAGES:  key0 = checkpoint's index, key1 = place of its first page in the dirty list,
 *           count = pages.
 *     { kind:u8 [rle] }                   ; rle unless the kind is LZ_PAGE_GONE
 *     rle     = { zeroes:var n:var bytes } until LZ_PAGE bytes are decoded
 *
 * DIR/meta        = "lizard-recording " version "\n" { key " " text "\n" }
 *   text: bytes below 32, 127 and the backslash are written \xHH. Unknown keys are skipped.
 *
 * Parts: a recording that keeps its last part only goes on in NAME.1, then NAME.2, ... for each
 * NAME of these three; where `checkpoints.N` exists, the others do. The lowest N is where the
 * recording begins, and there are no gaps. A part
 *   - begins with a whole checkpoint, at whose position its EVENTS and all but its first MARKERS
 *     begin;
 *   - has the whole file table, in front of its events. A copy that is not needed from a part on is
 *     called "" in it; when that part has become the first one, the index may name another file. So
 *     of entries with one index the first with a copy counts;
 *   - has as its first MARKERS, with LZ_MARKERS_BUFFER, what is in the marker buffer of that
 *     checkpoint, unless that is empty: it ends at the checkpoint's position, and the part before
 *     has the same bytes.
 * Indices and offsets go on counting from the program's start.
 *
 * Checkpoint i is complete when the PAGES behind its HEAD hold `count` pages together. */
#ifndef LIZARD_FORMAT_H
#define LIZARD_FORMAT_H

#include <stdint.h>

/* Formats 10 to 14 are read as well: 10 and 11 differ in the checksum of blocks that are not stored,
 * before 13 there is an event for each cpuid, before 14 no event has a state, before 15 there are no
 * chunks. */
enum { LZ_FORMAT_VERSION = 15, LZ_FORMAT_OLDEST = 10 };

#define LZ_FRAME_MAGIC 0x52465a4cu /* "LZFR" */
enum { LZ_FRAME_HEADER = 44 };

enum lz_frame_type {
	LZ_FRAME_EVENTS = 1,
	LZ_FRAME_FILE,
	LZ_FRAME_SYNC,
	LZ_FRAME_MARKERS,
	LZ_FRAME_HEAD,
	LZ_FRAME_PAGES,
	LZ_FRAME_HASHED,
	LZ_FRAME_CHUNK,
	LZ_FRAME_TYPES
};

enum lz_codec { LZ_CODEC_RAW, LZ_CODEC_ZLIB, LZ_CODEC_ZSTD, LZ_CODEC_LZ4, LZ_CODECS };

enum { LZ_HEAD_WHOLE = 1 };                       /* flags of HEAD */
enum { LZ_EVENTS_PLAIN = 1 };                     /* flags of EVENTS */
enum { LZ_MARKERS_BUFFER = 1 };                   /* flags of MARKERS */
enum { LZ_HASHED_XXH64 = 2, LZ_HASHED_XXH3 = 4 }; /* flags of HASHED: one of them or none */

enum lz_page_kind {
	LZ_PAGE_XOR,  /* to what the image holds there */
	LZ_PAGE_NEW,  /* contents as they are */
	LZ_PAGE_GONE, /* equal to its backing again, or unmapped */
	LZ_PAGE_KINDS
};

enum lz_event_present {
	LZ_EVP_REGS = 1,
	LZ_EVP_XSTATE = 2,
	LZ_EVP_WRITES = 4,
	LZ_EVP_OPS = 8,
	LZ_EVP_TAKEN = 16,
	LZ_EVP_STATE = 32,
	LZ_EVP_PAGES = 64,
	LZ_EVP_KEPT = 128,
	LZ_EVP_ALL = 255
};

/* What the writer makes. */
enum {
	LZ_EVENTS_FRAME = 256 << 10, /* raw bytes after which a frame is closed */
	LZ_BLOCK_MAX = 1 << 20,
	LZ_CHUNK_MAX = 1 << 20,
	LZ_KEPT_MOST = 64,    /* pieces of chunks that a write has */
	LZ_PAGES_FRAME = 1024 /* pages */
};

/* What the reader takes: raw bytes of a frame by type, and counts. */
#define LZ_MAX_EVENTS_RAW (1u << 30) /* one event may hold a read of that size */
#define LZ_MAX_FILE_RAW (64u << 10)
#define LZ_MAX_SYNC_RAW (1u << 20)
#define LZ_MAX_HEAD_RAW (256u << 20)
#define LZ_MAX_PAGES_RAW (16u << 20)
#define LZ_MAX_META (64u << 20)
#define LZ_MAX_FILES (1u << 16)
#define LZ_MAX_TID 0x7fffffffu
#define LZ_MAX_VMAS (1u << 20)
/* Of a program's file: holes up to this, or up to so many times what is stored, are taken for one's
 * own. */
#define LZ_MAX_HOLES (1u << 30)
enum { LZ_MAX_HOLLOW = 16 };
#define LZ_MAX_XSTATE (64u << 10)

#endif
