package org.opendedup.sar.index.chunkstash;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.common.Fingerprints;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a ChunkStash index has in memory, and how a record of the log changes it. A fingerprint is found through the
 * pages in memory or through the table. The table has the entries of written pages that are live, or every
 * {@link #interval}th entry of a page if memory does not suffice for all (ChunkStash, section 3.5).
 *
 * <p>Not thread-safe.
 */
final class StashState {
    private static final Logger log = LoggerFactory.getLogger(StashState.class);

    /** Slots of the smallest table: 384 KiB. */
    private static final long LEAST_SLOTS = 1 << 16;

    /** Highest page of which a pointer has four bytes. */
    private static final int MOST_SHORT_PAGES = (1 << Integer.SIZE - PageDirectory.ENTRY_BITS) - 1;

    private static final int MOST_CANDIDATES = 64;

    final StashLog records;
    final PageDirectory pages = new PageDirectory();
    final CoverTable covers = new CoverTable();
    final PageFrames frames;
    private final StashSettings settings;
    private @Nullable CuckooTable table;
    private int interval;

    @Nullable
    Epoch epoch;

    long highestContainer;
    /** Number of segments that were moved to the disk index. */
    volatile long moves;

    private long live;
    private boolean failed;

    private final long[] candidates = new long[MOST_CANDIDATES];
    private final byte[] key = new byte[Fingerprints.BYTES];
    private int foundSlot;

    StashState(StashLog records, StashSettings settings) {
        this.records = records;
        this.settings = settings;
        frames = new PageFrames(settings.frames());
        interval = settings.interval();
    }

    /** Returns how many entries of a page there are for each one in the table; a power of two. */
    int interval() {
        return interval;
    }

    /** Returns the number of live entries. */
    long live() {
        return live;
    }

    CuckooTable table() throws IOException {
        if (table == null || failed) {
            throw new IOException("the fingerprint index failed before; it must be made anew");
        }
        return table;
    }

    /** Notes that the table does not have what it should have: the index cannot be used any more. */
    void fail() {
        failed = true;
    }

    /** Finds the live entry of a fingerprint, reading the log where a signature matches; returns its pointer, or 0. */
    long find(byte[] fingerprints, int offset) throws IOException {
        int at = frames.find(fingerprints, offset);
        if (at >= 0) {
            PageFrames.Frame frame = frames.frame(at);
            int entry = PageFrames.entry(at);
            foundSlot = StashRecords.slot(frame.entries, entry);
            return PageDirectory.pointer(frame.page, entry);
        }
        int count = table().candidates(fingerprints, offset, candidates);
        for (int i = 0; i < count; i++) {
            long pointer = candidates[i];
            byte[] entry = readEntry(pointer);
            int from = StashRecords.FINGERPRINT_AT;
            if (Arrays.equals(
                    entry, from, from + Fingerprints.BYTES, fingerprints, offset, offset + Fingerprints.BYTES)) {
                foundSlot = StashRecords.slot(entry, 0);
                return pointer;
            }
        }
        return 0;
    }

    /** Returns the chunk id of the entry that {@link #find} returned last. */
    long foundChunk(long pointer) {
        return ChunkId.of(pages.container(PageDirectory.page(pointer)), foundSlot);
    }

    /** Reads an entry alone and verifies it. */
    private byte[] readEntry(long pointer) throws IOException {
        int page = PageDirectory.page(pointer);
        int entry = PageDirectory.entry(pointer);
        byte[] bytes = new byte[StashRecords.ENTRY_BYTES];
        PageFrames.Frame frame = frames.ofPage(page);
        if (frame != null) {
            System.arraycopy(frame.entries, entry * StashRecords.ENTRY_BYTES, bytes, 0, bytes.length);
            return bytes;
        }
        requireWritten(pointer);
        return readEntry(records, new PagePlace(pages, page), entry);
    }

    private void requireWritten(long pointer) throws IOException {
        int page = PageDirectory.page(pointer);
        if (!pages.exists(page) || pages.place(page) == PageDirectory.OPEN) {
            throw records.damaged(0, "a page for pointer " + Long.toHexString(pointer), "none");
        }
    }

    /** Reads an entry of a page alone and verifies it. */
    static byte[] readEntry(StashLog records, PagePlace page, int entry) throws IOException {
        byte[] bytes = new byte[StashRecords.ENTRY_BYTES];
        int at = StashRecords.entriesAt(page.length(), page.count()) + entry * StashRecords.ENTRY_BYTES;
        records.readPart(page.place(), at, ByteBuffer.wrap(bytes));
        if (entry >= page.count() || !StashRecords.isSound(page.page(), page.container(), bytes)) {
            throw records.damaged(page.place(), "entry " + entry + " with its checksum", "other bytes");
        }
        return bytes;
    }

    /** Reads a page and verifies it. */
    static ByteBuffer readPage(StashLog records, PagePlace page) throws IOException {
        ByteBuffer record = records.read(page.place(), page.length());
        if (StashRecords.type(record) != StashRecords.PAGE
                || StashRecords.pageNumber(record) != page.page()
                || StashRecords.container(record) != page.container()
                || StashRecords.count(record) != page.count()) {
            throw records.damaged(page.place(), "page " + page.page() + " of container " + page.container(), "another");
        }
        return record;
    }

    /** Puts a page that was read in memory. */
    void cache(PagePlace place, ByteBuffer record) {
        if (frames.ofPage(place.page()) != null || !isAt(place)) {
            return;
        }
        PageFrames.Frame frame = frames.take(place.page(), place.container());
        int bytes = place.count() * StashRecords.ENTRY_BYTES;
        record.get(StashRecords.entriesAt(place.length(), place.count()), frame.entries, 0, bytes);
        frame.count = place.count();
        for (int entry = 0; entry < place.count(); entry++) {
            if (pages.isLive(place.page(), entry)) {
                frames.linkIfAbsent(frame, entry);
            }
        }
    }

    private boolean isAt(PagePlace place) {
        return pages.exists(place.page())
                && pages.container(place.page()) == place.container()
                && pages.place(place.page()) == place.place();
    }

    /** The entries of a page: those in memory, or read from the log. */
    byte[] entries(int page) throws IOException {
        PageFrames.Frame frame = frames.ofPage(page);
        if (frame != null) {
            return frame.entries;
        }
        PagePlace place = new PagePlace(pages, page);
        ByteBuffer record = readPage(records, place);
        byte[] entries = new byte[place.count() * StashRecords.ENTRY_BYTES];
        record.get(StashRecords.entriesAt(place.length(), place.count()), entries);
        return entries;
    }

    /** Returns the number of entries of a page, which may be open. */
    int count(int page) {
        PageFrames.Frame frame = frames.ofPage(page);
        return frame == null ? pages.count(page) : frame.count;
    }

    private void readKey(long pointer, byte[] target) throws IOException {
        byte[] entry = readEntry(pointer);
        System.arraycopy(entry, StashRecords.FINGERPRINT_AT, target, 0, Fingerprints.BYTES);
    }

    /** The fingerprint of a live entry leads elsewhere, or nowhere, from now on. */
    void strike(long pointer, byte[] fingerprints, int offset) throws IOException {
        int page = PageDirectory.page(pointer);
        int entry = PageDirectory.entry(pointer);
        PageFrames.Frame frame = frames.ofPage(page);
        if (frame != null) {
            frames.unlink(frame, entry);
        }
        pages.strike(page, entry);
        live--;
        if (pages.place(page) != PageDirectory.OPEN) {
            table().remove(fingerprints, offset, pointer);
        }
    }

    /** Returns the pages that are in a segment of the log. */
    List<Integer> pagesIn(int segment) {
        List<Integer> found = new ArrayList<>();
        for (int page = 1; page <= pages.highest(); page++) {
            if (isIn(page, segment)) {
                found.add(page);
            }
        }
        return found;
    }

    private boolean isIn(int page, int segment) {
        return pages.exists(page) && pages.place(page) >= 0 && StashLog.segment(pages.place(page)) == segment;
    }

    /** Forgets what a segment of the log has, which is elsewhere now. No page may be open. */
    void forget(int segment) throws IOException {
        for (int page : pagesIn(segment)) {
            byte[] entries = entries(page);
            for (int entry = 0; entry < pages.count(page); entry++) {
                if (pages.isLive(page, entry)) {
                    int at = entry * StashRecords.ENTRY_BYTES + StashRecords.FINGERPRINT_AT;
                    strike(PageDirectory.pointer(page, entry), entries, at);
                }
            }
            free(page);
        }
        for (int number = covers.count() - 1; number >= 0; number--) {
            if (StashLog.segment(covers.place(number)) == segment) {
                removeCover(covers.container(number));
            }
        }
    }

    /** Returns the bytes of a file with the table. */
    long tableBytes() {
        return table == null ? 0 : table.memoryBytes();
    }

    /** Frees a page of which nothing is kept. */
    void free(int page) {
        if (pages.place(page) != PageDirectory.OPEN) {
            records.release(pages.place(page), pages.length(page));
        }
        frames.remove(page);
        // A page that is written later must not replace entries of the next page with this number.
        frames.forEachOpen(open -> open.forgetSuperseded(page));
        pages.remove(page);
    }

    void noteEntry(long container) {
        live++;
        highestContainer = Math.max(highestContainer, container);
    }

    /** Enters the live entries of a page that was written into the table. */
    void enter(int page, byte[] entries, int count) throws IOException {
        if (makeRoom(pages.live(page, count) / interval + 1)) {
            return;
        }
        for (int entry = 0; entry < count; entry++) {
            if (pages.isLive(page, entry)) {
                enter(page, entry, entries);
            }
        }
    }

    /** Samples that do not fit are left out: of short pages there may be too many, of whatever interval. */
    private void enter(int page, int entry, byte[] entries) throws IOException {
        if (isSampled(PageDirectory.pointer(page, entry)) && (interval == 1 || table().hasRoomFor(1))) {
            int at = entry * StashRecords.ENTRY_BYTES + StashRecords.FINGERPRINT_AT;
            table().insert(entries, at, PageDirectory.pointer(page, entry), this::readKey);
        }
    }

    private long mostSlots(int pointerBytes) {
        return settings.tableBytes()
                / CuckooTable.slotBytes(pointerBytes)
                / CuckooTable.BUCKET_SLOTS
                * CuckooTable.BUCKET_SLOTS;
    }

    /** Makes room in the table; returns whether it was made anew, with the entries of all written pages. */
    private boolean makeRoom(int more) throws IOException {
        boolean isNew = false;
        if (table().pointerBytes() < pointerBytes()) {
            buildTable();
            isNew = true;
        }
        while (!table().hasRoomFor(isNew ? 0 : more)) {
            if (table().slots() < mostSlots(table().pointerBytes())) {
                buildTable();
                isNew = true;
            } else if (interval < StashSettings.MOST_INTERVAL) {
                interval *= 2;
                warnOfSampling();
                table().retain(this::isSampled);
            } else {
                break;
            }
        }
        return isNew;
    }

    private int pointerBytes() {
        return pages.highest() > MOST_SHORT_PAGES ? 5 : 4;
    }

    private boolean isSampled(long pointer) {
        return settings.samples().has(pointer, interval);
    }

    private void warnOfSampling() {
        log.warn(
                "the fingerprint index has {} chunks, and {} bytes of memory for them: it finds one of {} chunks and"
                        + " its neighbours, so some duplicates are stored again. A mount with more memory ends this",
                live,
                settings.tableBytes(),
                interval);
    }

    /** Makes the table from the pages, with room for as many entries again, as far as memory allows. */
    void buildTable() throws IOException {
        int pointerBytes = pointerBytes();
        long most = mostSlots(pointerBytes);
        interval = leastInterval(most);
        if (interval > settings.interval()) {
            warnOfSampling();
        }
        table = null; // Both do not fit in the memory.
        long slots = Math.min(most, Math.max(LEAST_SLOTS, 2 * (live / interval + PageDirectory.PAGE_ENTRIES)));
        table = new CuckooTable(slots, pointerBytes, settings.candidates());
        try {
            for (int page = 1; page <= pages.highest(); page++) {
                if (pages.exists(page) && pages.place(page) != PageDirectory.OPEN) {
                    byte[] entries = entries(page);
                    for (int entry = 0; entry < pages.count(page); entry++) {
                        if (pages.isLive(page, entry)) {
                            enter(page, entry, entries);
                        }
                    }
                }
            }
        } catch (IOException e) {
            fail();
            throw e;
        }
    }

    private int leastInterval(long slots) {
        int least = settings.interval();
        while (least < StashSettings.MOST_INTERVAL
                && live / least + PageDirectory.PAGE_ENTRIES > slots * CuckooTable.MOST_LOAD) {
            least *= 2;
        }
        return least;
    }

    /** Returns whether a table that was kept can be used: a new one would not have more entries, nor another form. */
    boolean accepts(long slots, int pointerBytes, int positions, int ofInterval) {
        return pointerBytes == pointerBytes()
                && positions == settings.candidates()
                && slots <= mostSlots(pointerBytes)
                && ofInterval >= settings.interval()
                && ofInterval <= leastInterval(mostSlots(pointerBytes));
    }

    void setTable(CuckooTable kept, int ofInterval) {
        table = kept;
        interval = ofInterval;
    }

    /** Sets a page as a checkpoint has it. */
    void restore(int page, PagePlace place, long @Nullable [] notLive, long @Nullable [] notKept) {
        pages.put(page, place.container(), place.place(), place.length(), place.count());
        pages.setBitmaps(page, notLive, notKept);
        live += pages.live(page, place.count());
    }

    /**
     * Notes what of the log is in use by what was restored.
     *
     * @throws org.opendedup.sar.common.CorruptionException if it is not in the log
     */
    void useAll() throws IOException {
        for (int page = 1; page <= pages.highest(); page++) {
            if (pages.exists(page)) {
                records.requirePlace(pages.place(page), pages.length(page));
                records.use(pages.place(page), pages.length(page));
            }
        }
        for (int number = 0; number < covers.count(); number++) {
            records.requirePlace(covers.place(number), covers.length(number));
            records.use(covers.place(number), covers.length(number));
        }
    }

    /** Does what a record of the log says, when the index is opened. */
    void apply(long place, ByteBuffer record) throws IOException {
        switch (StashRecords.type(record)) {
            case StashRecords.PAGE -> applyPage(place, record);
            case StashRecords.COVER -> putCover(StashRecords.container(record), place, record.limit());
            case StashRecords.UNCOVER -> removeCover(StashRecords.container(record));
            case StashRecords.DROPPED -> applyDropped(place, record);
            case StashRecords.EPOCH -> epoch = StashRecords.epoch(record);
            default ->
                throw records.damaged(place, "a known type of a record", Byte.toString(StashRecords.type(record)));
        }
    }

    private void applyPage(long place, ByteBuffer record) throws IOException {
        int page = StashRecords.pageNumber(record);
        int count = StashRecords.count(record);
        long container = StashRecords.container(record);
        if (page < 1 || page > PageDirectory.MOST_PAGES || count > PageDirectory.PAGE_ENTRIES || container < 1) {
            throw records.damaged(place, "a page of a container", "page " + page + " of container " + container);
        }
        records.use(place, record.limit());
        if (pages.exists(page)) {
            // It was moved.
            records.release(pages.place(page), pages.length(page));
            pages.setPlace(page, place, record.limit(), count);
            return;
        }
        pages.put(page, container, place, record.limit(), count);
        pages.setBitmaps(page, StashRecords.notLive(record), StashRecords.notKept(record));
        live += pages.live(page, count);
        highestContainer = Math.max(highestContainer, container);
        for (long pointer : StashRecords.superseded(record)) {
            applyStrike(pointer);
        }
        if (table != null) {
            byte[] entries = new byte[count * StashRecords.ENTRY_BYTES];
            record.get(StashRecords.entriesAt(record.limit(), count), entries);
            enter(page, entries, count);
        }
    }

    private void applyStrike(long pointer) throws IOException {
        int page = PageDirectory.page(pointer);
        int entry = PageDirectory.entry(pointer);
        if (pages.exists(page) && entry < pages.count(page) && pages.isLive(page, entry)) {
            if (table != null) {
                readKey(pointer, key);
                table.remove(key, 0, pointer);
            }
            pages.strike(page, entry);
            live--;
        }
    }

    private void applyDropped(long place, ByteBuffer record) throws IOException {
        int page = StashRecords.pageNumber(record);
        if (!pages.exists(page)) {
            throw records.damaged(place, "a page that is there", "page " + page);
        }
        for (int entry = 0; entry < pages.count(page); entry++) {
            if (StashRecords.isDropped(record, entry)) {
                applyStrike(PageDirectory.pointer(page, entry));
                pages.drop(page, entry);
            }
        }
        if (pages.isEmpty(page, pages.count(page))) {
            free(page);
        }
    }

    void putCover(long container, long place, int length) {
        removeCover(container);
        covers.put(container, place, length);
        records.use(place, length);
        highestContainer = Math.max(highestContainer, container);
    }

    void removeCover(long container) {
        int number = covers.find(container);
        if (number >= 0) {
            records.release(covers.place(number), covers.length(number));
            covers.remove(number);
        }
    }
}
