package org.opendedup.sar.index.chunkstash;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.io.Directory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes and reads what an index has in memory, so that an opening reads only the end of the log: the pages and frame
 * tables with their places (file {@value StashFiles#CHECKPOINT}), and the table (file {@value StashFiles#TABLE}). A
 * table belongs to the checkpoint with its number. No page may be open.
 *
 * <pre>
 * checkpoint   number:u64 generation:u64 table:u8 hasEpoch:u8 0:u16 epoch:32 highestContainer:u64
 *              moves:u64 segments:u32 (segment:u32 end:u64)* pages:u32 page*
 *              covers:u32 (container:u64 place:u64 length:u32)*
 * page         page:u32 container:u64 place:u64 length:u32 count:u16 flags:u8 [notLive:128] [notKept:128]
 * table        number:u64 slots:u64 pointerBytes:u16 candidates:u16 interval:u32 inSlots:u64 aside:u32
 *              buckets (g1:u64 pointer:u64)*
 * </pre>
 */
final class Checkpoint {
    private static final Logger log = LoggerFactory.getLogger(Checkpoint.class);
    private static final long MAGIC = 0x3130_5043_4853_4353L; // "SCSHCP01"
    private static final long TABLE_MAGIC = 0x3330_4254_4853_4353L; // "SCSHTB03"
    private static final int HEADER_BYTES = 68;
    private static final int SEGMENT_BYTES = 12;
    private static final int PAGE_BYTES = 27;
    private static final int COVER_BYTES = 20;
    private static final int BITMAP_BYTES = PageDirectory.BITMAP_LONGS * Long.BYTES;
    private static final int TABLE_HEADER_BYTES = 36;
    private static final int HAS_NOT_LIVE = 1;
    private static final int HAS_NOT_KEPT = 2;

    private Checkpoint() {}

    /**
     * Writes a checkpoint, after forcing the log.
     *
     * @param withTable whether the table is written as well
     * @param without a segment that is deleted afterwards; 0 if none. What it has is left out, too
     */
    static void write(Directory directory, long generation, StashState state, boolean withTable, int without)
            throws IOException {
        state.records.force();
        long number = ThreadLocalRandom.current().nextLong();
        if (withTable) {
            writeTable(directory, state, number);
        }
        try (StashFiles.Writer out = new StashFiles.Writer(directory, StashFiles.CHECKPOINT, MAGIC)) {
            ByteBuffer header = out.buffer(HEADER_BYTES);
            header.putLong(number).putLong(generation).put((byte) (withTable ? 1 : 0));
            header.put((byte) (state.epoch == null ? 0 : 1)).putShort((short) 0);
            if (state.epoch == null) {
                header.put(new byte[4 * Long.BYTES]);
            } else {
                state.epoch.put(header);
            }
            header.putLong(state.highestContainer).putLong(state.moves);
            List<long[]> segments = state.records.ends(without);
            out.buffer(Integer.BYTES).putInt(segments.size());
            for (long[] segment : segments) {
                out.buffer(SEGMENT_BYTES).putInt((int) segment[0]).putLong(segment[1]);
            }
            writePages(out, state.pages, without);
            writeCovers(out, state.covers, without);
            out.finish();
        }
    }

    /** Returns about how many bytes a checkpoint has; rather too many. */
    static long estimatedBytes(StashState state) {
        return HEADER_BYTES
                + 3L * Integer.BYTES
                + (long) SEGMENT_BYTES * state.records.segments()
                + (long) PAGE_BYTES * state.pages.highest()
                + (long) BITMAP_BYTES * state.pages.bitmaps()
                + (long) COVER_BYTES * state.covers.count()
                + 2L * Long.BYTES;
    }

    private static void writeCovers(StashFiles.Writer out, CoverTable covers, int without) throws IOException {
        int count = 0;
        for (int i = 0; i < covers.count(); i++) {
            count += StashLog.segment(covers.place(i)) == without ? 0 : 1;
        }
        out.buffer(Integer.BYTES).putInt(count);
        for (int i = 0; i < covers.count(); i++) {
            if (StashLog.segment(covers.place(i)) != without) {
                out.buffer(COVER_BYTES)
                        .putLong(covers.container(i))
                        .putLong(covers.place(i))
                        .putInt(covers.length(i));
            }
        }
    }

    private static boolean isLeft(PageDirectory pages, int page, int without) {
        return pages.exists(page) && StashLog.segment(pages.place(page)) != without;
    }

    private static void writePages(StashFiles.Writer out, PageDirectory pages, int without) throws IOException {
        int count = 0;
        for (int page = 1; page <= pages.highest(); page++) {
            count += isLeft(pages, page, without) ? 1 : 0;
        }
        out.buffer(Integer.BYTES).putInt(count);
        for (int page = 1; page <= pages.highest(); page++) {
            if (isLeft(pages, page, without)) {
                long[] notLive = pages.notLive(page);
                long[] notKept = pages.notKept(page);
                int flags = (notLive == null ? 0 : HAS_NOT_LIVE) | (notKept == null ? 0 : HAS_NOT_KEPT);
                out.buffer(PAGE_BYTES)
                        .putInt(page)
                        .putLong(pages.container(page))
                        .putLong(pages.place(page))
                        .putInt(pages.length(page))
                        .putShort((short) pages.count(page))
                        .put((byte) flags);
                writeBitmap(out, notLive);
                writeBitmap(out, notKept);
            }
        }
    }

    private static void writeBitmap(StashFiles.Writer out, long @Nullable [] bitmap) throws IOException {
        if (bitmap != null) {
            ByteBuffer buffer = out.buffer(BITMAP_BYTES);
            for (long bits : bitmap) {
                buffer.putLong(bits);
            }
        }
    }

    private static void writeTable(Directory directory, StashState state, long number) throws IOException {
        CuckooTable table = state.table();
        try (StashFiles.Writer out = new StashFiles.Writer(directory, StashFiles.TABLE, TABLE_MAGIC)) {
            out.buffer(TABLE_HEADER_BYTES)
                    .putLong(number)
                    .putLong(table.slots())
                    .putShort((short) table.pointerBytes())
                    .putShort((short) table.candidatePositions())
                    .putInt(state.interval())
                    .putLong(table.size() - table.auxiliarySize())
                    .putInt(table.auxiliarySize());
            table.write(out::putAll);
            out.finish();
        }
    }

    /**
     * Opens the log with the checkpoint, if there is one, and brings the state up to date with it.
     *
     * @throws CorruptionException if the checkpoint or the log is damaged. A damaged table is made again from the log.
     */
    static void read(Directory directory, long generation, StashState state) throws IOException {
        List<long[]> segments = new ArrayList<>();
        long number = 0;
        boolean hasTable = false;
        if (directory.exists(StashFiles.CHECKPOINT)) {
            StashFiles.verify(directory, StashFiles.CHECKPOINT, MAGIC);
            try (StashFiles.Reader in = new StashFiles.Reader(directory, StashFiles.CHECKPOINT, MAGIC)) {
                ByteBuffer header = in.buffer(HEADER_BYTES);
                number = header.getLong();
                long ofGeneration = header.getLong();
                hasTable = header.get() == 1;
                boolean hasEpoch = header.get() == 1;
                header.getShort();
                var epoch = Epoch.get(header);
                long highest = header.getLong();
                long moves = header.getLong();
                if (ofGeneration == generation) {
                    state.epoch = hasEpoch ? epoch : null;
                    state.highestContainer = highest;
                    state.moves = moves;
                    readRest(in, state, segments);
                    in.finish();
                } else {
                    // The index was cleared, and a crash left the old checkpoint.
                    hasTable = false;
                }
            }
        }
        boolean fromTable = hasTable && readTable(directory, state, number);
        state.records.open(segments, state::useAll, state::apply);
        state.pages.findFree();
        if (!fromTable) {
            state.buildTable();
        }
    }

    private static void readRest(StashFiles.Reader in, StashState state, List<long[]> segments) throws IOException {
        int count = in.buffer(Integer.BYTES).getInt();
        for (int i = 0; i < count; i++) {
            ByteBuffer segment = in.buffer(SEGMENT_BYTES);
            segments.add(new long[] {segment.getInt(), segment.getLong()});
        }
        int pages = in.buffer(Integer.BYTES).getInt();
        for (int i = 0; i < pages; i++) {
            ByteBuffer bytes = in.buffer(PAGE_BYTES);
            int page = bytes.getInt();
            PagePlace place = new PagePlace(
                    page, bytes.getLong(), bytes.getLong(), bytes.getInt(), Short.toUnsignedInt(bytes.getShort()));
            int flags = bytes.get();
            if (page < 1 || page > PageDirectory.MOST_PAGES || place.container() < 1) {
                throw in.damaged("a page", "page " + page + " of container " + place.container());
            }
            long[] notLive = (flags & HAS_NOT_LIVE) == 0 ? null : readBitmap(in);
            long[] notKept = (flags & HAS_NOT_KEPT) == 0 ? null : readBitmap(in);
            state.restore(page, place, notLive, notKept);
        }
        int covers = in.buffer(Integer.BYTES).getInt();
        for (int i = 0; i < covers; i++) {
            ByteBuffer cover = in.buffer(COVER_BYTES);
            state.covers.put(cover.getLong(), cover.getLong(), cover.getInt());
        }
    }

    private static long[] readBitmap(StashFiles.Reader in) throws IOException {
        ByteBuffer bytes = in.buffer(BITMAP_BYTES);
        long[] bits = new long[PageDirectory.BITMAP_LONGS];
        for (int i = 0; i < bits.length; i++) {
            bits[i] = bytes.getLong();
        }
        return bits;
    }

    /** Reads the table that belongs to a checkpoint; returns false if there is none that can be used. */
    private static boolean readTable(Directory directory, StashState state, long number) throws IOException {
        if (!directory.exists(StashFiles.TABLE)) {
            return false;
        }
        try (StashFiles.Reader in = new StashFiles.Reader(directory, StashFiles.TABLE, TABLE_MAGIC)) {
            ByteBuffer header = in.buffer(TABLE_HEADER_BYTES);
            long ofNumber = header.getLong();
            long slots = header.getLong();
            int pointerBytes = header.getShort();
            int candidates = header.getShort();
            int interval = header.getInt();
            long inSlots = header.getLong();
            int aside = header.getInt();
            if (ofNumber != number || !state.accepts(slots, pointerBytes, candidates, interval)) {
                return false;
            }
            CuckooTable table = new CuckooTable(slots, pointerBytes, candidates);
            table.read(in::getAll, inSlots, aside);
            in.finish();
            state.setTable(table, interval);
            return true;
        } catch (CorruptionException e) {
            log.warn("the table of the fingerprint index is damaged; it is made again: {}", e.getMessage());
            return false;
        }
    }
}
