package org.opendedup.sar.volume.send;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Progress;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.record.Entry;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.RecipePage;
import org.opendedup.sar.metadata.versions.StateDifference;
import org.opendedup.sar.sort.TupleSort;
import org.opendedup.sar.volume.stream.StreamMessage.Attribute;
import org.opendedup.sar.volume.stream.StreamMessage.Name;
import org.opendedup.sar.volume.stream.StreamPage;
import org.opendedup.sar.volume.stream.StreamPosition;

/**
 * Goes through what a snapshot has and the base has not, in the order of inodes. An inode that the base does not have
 * is read as it is; of the others, the records that differ. For one thread.
 */
final class DifferenceWalk implements Closeable {
    private static final String STAGE = "MiB of files looked at";
    private static final String FINDING = "records that differ, looked for";

    /** Inodes, and pages of a file, that are listed at a time, so that no cursor stays open for long. */
    private static final int BATCH = 1024;

    /** Bytes of the numbers of one file's pages in memory; more are sorted on the disk. */
    private static final int PAGE_SORT_BYTES = 1 << 20;

    private final SnapshotView target;
    private final @Nullable SnapshotView base;
    private final @Nullable ChangedRecords records;
    private final @Nullable StateDifference difference;
    private final int pageBytes;
    private final PageDifference pages;
    private final StreamBuilder out;
    private final Directory scratch;
    private final @Nullable VolumeKeys keys;
    private final Progress progress;
    private final StreamPosition start;
    private final long all;
    private long done;

    /**
     * @param base null: all of the target is sent
     * @param keys of an encrypted volume; null: it is not encrypted
     */
    DifferenceWalk(
            SnapshotView target,
            @Nullable SnapshotView base,
            StreamPosition start,
            StreamBuilder out,
            Directory scratch,
            @Nullable VolumeKeys keys,
            Progress progress,
            long logicalBytes)
            throws IOException {
        this.target = target;
        this.base = base;
        this.start = start;
        this.out = out;
        this.scratch = scratch;
        this.keys = keys;
        this.progress = progress;
        pageBytes = target.metadata().header().pageBytes();
        pages = new PageDifference(base, pageBytes);
        difference = base == null ? null : target.metadata().difference(base.number(), target.number());
        records = difference == null
                ? null
                : new ChangedRecords(difference, scratch, keys, () -> progress.at(FINDING, 0, 0));
        all = records == null ? logicalBytes : records.pages() * pageBytes;
    }

    void run() throws IOException {
        step();
        if (records == null || difference == null) {
            runWhole();
        } else {
            runDifference(records, difference);
        }
        out.end();
    }

    private void step() throws InterruptedIOException {
        progress.at(STAGE, done >> 20, all >> 20);
    }

    private void runWhole() throws IOException {
        long next = start.inode();
        do {
            next = target.someInodes(next, BATCH, this::whole);
        } while (next != 0);
    }

    /** Passes on an inode with everything that it has. */
    private void whole(Inode inode) throws IOException {
        step();
        out.changed(inode);
        for (byte[] name : target.attributes(inode.id())) {
            out.attribute(inode.id(), new Attribute(name, target.attribute(inode.id(), name)));
        }
        if (inode.isDirectory()) {
            target.forEachName(inode.id(), (name, to, type) -> out.name(inode.id(), new Name(name, to, type)));
        }
        if (inode.isFile()) {
            long end = (inode.size() + pageBytes - 1) / pageBytes;
            long from = firstPage(inode.id());
            while (from < end) {
                long[] some = target.existingPages(inode.id(), from, end, BATCH);
                for (long page : some) {
                    page(inode, null, page);
                }
                from = some.length < BATCH ? end : some[some.length - 1] + 1;
            }
        }
    }

    private long firstPage(long inode) {
        return inode == start.inode() ? start.page() : 0;
    }

    private void page(Inode file, @Nullable Inode before, long number) throws IOException {
        RecipePage recipe = target.page(file.id(), number);
        StreamPage page =
                pages.page(file, before, number, recipe, (chunk, prefix) -> out.needs(file.id(), chunk, prefix));
        out.page(file.id(), page);
        done += records == null ? recipe.dataBytes() : pageBytes;
        step();
    }

    private void runDifference(ChangedRecords changed, StateDifference between) throws IOException {
        ChangedRecords.Cursor cursor = changed.from(start.inode());
        boolean more = cursor.next();
        while (more) {
            long inode = cursor.inode();
            Inode now = target.inode(inode);
            Inode before = base == null ? null : base.inode(inode);
            if (now != null && before != null) {
                more = changes(now, before, cursor, between);
                continue;
            }
            if (now != null) {
                whole(now);
            } else if (before != null) {
                out.removed(inode);
            }
            do {
                more = cursor.next();
            } while (more && cursor.inode() == inode);
        }
    }

    /** Passes on what differs of an inode that both snapshots have. Returns whether another inode follows. */
    private boolean changes(Inode now, Inode before, ChangedRecords.Cursor cursor, StateDifference between)
            throws IOException {
        long inode = now.id();
        boolean more = true;
        Family last = null;
        long lastNumber = 0;
        while (more && cursor.inode() == inode && cursor.family() != Family.RECIPE) {
            if (cursor.family() != last || cursor.number() != lastNumber) {
                record(now, cursor.family(), cursor.number(), between);
            }
            last = cursor.family();
            lastNumber = cursor.number();
            more = cursor.next();
        }
        return more && cursor.inode() == inode ? pages(now, before, cursor) : more;
    }

    /** Passes on the pages that differ, in order; they are the last records of an inode. */
    private boolean pages(Inode now, Inode before, ChangedRecords.Cursor cursor) throws IOException {
        boolean more = true;
        try (TupleSort changed = new TupleSort(scratch, "pages", 1, PAGE_SORT_BYTES, this::step, keys)) {
            while (more && cursor.inode() == now.id()) {
                changed.add(new long[] {cursor.number()});
                more = cursor.next();
            }
            long end = (now.size() + pageBytes - 1) / pageBytes;
            TupleSort.Cursor sorted = changed.sorted(firstPage(now.id()));
            long last = -1;
            while (sorted.next() && sorted.get(0) < end) {
                if (sorted.get(0) != last) {
                    last = sorted.get(0);
                    page(now, before, last);
                }
            }
        }
        return more;
    }

    private void record(Inode now, Family family, long number, StateDifference between) throws IOException {
        switch (family) {
            case INODE -> out.changed(now);
            case XATTR -> attributes(now.id(), between);
            case ENTRY -> names(now.id(), number, between);
            default -> throw new AssertionError(family);
        }
    }

    private void attributes(long inode, StateDifference between) throws IOException {
        for (byte[] key : keys(Family.XATTR, Keys.of(inode), Keys.of(inode + 1), between)) {
            byte[] name = Arrays.copyOfRange(key, Keys.LONG_BYTES, key.length);
            out.attribute(inode, new Attribute(name, target.attribute(inode, name)));
        }
    }

    private void names(long directory, long hash, StateDifference between) throws IOException {
        for (byte[] key : keys(Family.ENTRY, Keys.of(directory, hash), Keys.of(directory, hash + 1), between)) {
            byte[] name = Entry.name(key);
            Entry entry = target.name(directory, name);
            out.name(directory, entry == null ? new Name(name, 0, 0) : new Name(name, entry.inode(), entry.type()));
        }
    }

    private static Set<byte[]> keys(Family family, byte[] first, byte[] end, StateDifference between)
            throws IOException {
        Set<byte[]> keys = new TreeSet<>(Arrays::compareUnsigned);
        between.forEachKey(family, first, end, keys::add);
        return keys;
    }

    @Override
    public void close() throws IOException {
        if (records != null) {
            records.close();
        }
    }
}
