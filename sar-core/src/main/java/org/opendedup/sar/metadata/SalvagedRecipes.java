package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.ChunkId;
import org.opendedup.sar.metadata.KeyValueStore.Batch;
import org.opendedup.sar.metadata.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.KeyValueStore.Family;

/**
 * Makes recipes and inodes of a salvaged database agree. A missing page would read as zeros, which is what a hole is.
 * So each page that may be lost becomes a reference to a chunk that no container has: reading it is an error, and a
 * check names the file and the range. An inode counts its stored bytes, so a file that has lost nothing is known.
 */
final class SalvagedRecipes {
    /** Maximum number of lost pages of one file. More are absent only in a file that consists of holes. */
    private static final long MAX_LOST_PAGES = 1 << 20;

    private final KeyValueStore database;
    private final int pageBytes;
    private final long lostContainer;
    private final LostRecords lost;
    private final Set<Long> remade;
    private final List<String> told;
    private long lostPages;
    private long dataBytes;
    private long inodes;
    private long pages;

    /** The recipe of one file, as it is. */
    private static final class Found {
        private final List<Long> pages = new ArrayList<>();
        private final List<byte[]> dead = new ArrayList<>();
        private long bytes;
        private long end;
    }

    /**
     * @param lostContainer id of a container that does not exist, and never will
     * @param remade inodes whose sizes are not known
     * @param told receives what is lost, as sentences
     */
    SalvagedRecipes(
            KeyValueStore database,
            int pageBytes,
            long lostContainer,
            LostRecords lost,
            Set<Long> remade,
            List<String> told) {
        this.database = database;
        this.pageBytes = pageBytes;
        this.lostContainer = lostContainer;
        this.lost = lost;
        this.remade = remade;
        this.told = told;
    }

    /** Returns the number of pages that refer to the chunk that does not exist. */
    long lostPages() {
        return lostPages;
    }

    /** Returns the bytes that all files take from chunks. */
    long dataBytes() {
        return dataBytes;
    }

    /** Returns the number of pages of all recipes, without those that are lost. */
    long pages() {
        return pages;
    }

    long inodes() {
        return inodes;
    }

    /** @param all number of inodes, for the progress */
    void run(long all, SalvageProgress progress) throws IOException {
        try (Cursor cursor = database.scan(Family.INODE, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                Inode inode = InodeFormat.decode(Keys.longAt(cursor.key(), 0), cursor.value());
                if (inode.isFile() && inode.links() > 0) {
                    inode = correct(inode);
                } else {
                    removeDamaged(inode);
                }
                dataBytes += inode.dataBytes();
                inodes++;
                progress.at("recipes", inodes, all);
            }
        }
    }

    private Inode correct(Inode inode) throws IOException {
        long deadFrom = deadFrom(inode.id());
        boolean isRemade = remade.contains(inode.id());
        Found found = read(inode, isRemade, deadFrom);
        long size = isRemade ? found.end : inode.size();
        try (Batch batch = database.batch()) {
            for (byte[] key : found.dead) {
                batch.delete(Family.RECIPE, key);
            }
            long more = 0;
            if (isRemade || found.bytes != inode.dataBytes()) {
                more = addLostPages(batch, inode, size, found);
            }
            Inode right = inode.withBytes(size, found.bytes + more);
            if (right.size() != inode.size() || right.dataBytes() != inode.dataBytes()) {
                batch.put(Family.INODE, Keys.of(inode.id()), InodeFormat.encode(right));
            }
            batch.commit();
            return right;
        }
    }

    /** Removes pages that do not decode from an inode of which no byte can be read, such as one that is being freed. */
    private void removeDamaged(Inode inode) throws IOException {
        List<byte[]> dead = read(inode, true, Long.MAX_VALUE).dead;
        if (!dead.isEmpty()) {
            try (Batch batch = database.batch()) {
                for (byte[] key : dead) {
                    batch.delete(Family.RECIPE, key);
                }
                batch.commit();
            }
        }
    }

    /** Returns the first page that is being removed in the background; {@link Long#MAX_VALUE} if there is none. */
    private long deadFrom(long inode) throws IOException {
        byte[] value = database.get(Family.ORPHAN, Keys.of(inode));
        if (value == null) {
            return Long.MAX_VALUE;
        }
        try {
            return new ValueReader(value, "orphan inode", inode)
                    .expectVersion(1)
                    .readVarint(Long.MAX_VALUE);
        } catch (IOException e) {
            return Long.MAX_VALUE;
        }
    }

    /** @param takesAll whether no page counts as one past the end of the file */
    private Found read(Inode inode, boolean takesAll, long deadFrom) throws IOException {
        Found found = new Found();
        try (Cursor cursor = database.scan(Family.RECIPE, Keys.of(inode.id()), Keys.of(inode.id() + 1))) {
            while (cursor.next()) {
                byte[] key = cursor.key();
                long number = Keys.longAt(key, Keys.LONG_BYTES);
                RecipePage page = decode(key, cursor.value());
                boolean isPastEnd = !takesAll && number < deadFrom && number * pageBytes >= inode.size();
                if (page == null || isPastEnd) {
                    found.dead.add(key);
                    if (page == null) {
                        lost.addRecord(Family.RECIPE, key);
                    }
                    continue;
                }
                found.bytes += page.dataBytes();
                pages++;
                if (number < deadFrom) {
                    found.pages.add(number);
                    found.end = number * pageBytes + page.bytes();
                }
            }
        }
        return found;
    }

    private @Nullable RecipePage decode(byte[] key, byte[] value) {
        try {
            return key.length == 2 * Keys.LONG_BYTES ? RecipeFormat.decode(key, value, pageBytes) : null;
        } catch (IOException e) {
            return null;
        }
    }

    /** Returns the bytes of the pages that were added. */
    private long addLostPages(Batch batch, Inode inode, long size, Found found) throws IOException {
        long end = (size + pageBytes - 1) / pageBytes;
        long bytes = 0;
        long added = 0;
        for (LostRecords.Range range : lost.of(Family.RECIPE)) {
            long from = range.first() == inode.id() && range.after().length >= 2 * Keys.LONG_BYTES
                    ? Keys.longAt(range.after(), Keys.LONG_BYTES)
                    : 0;
            boolean reaches = range.first() <= inode.id() && inode.id() <= range.last();
            for (long page = from; reaches && page < end; page++) {
                byte[] key = Keys.of(inode.id(), page);
                if (!range.contains(key)) {
                    if (page > from) {
                        break;
                    }
                    continue;
                }
                if (Collections.binarySearch(found.pages, page) >= 0) {
                    continue;
                }
                if (++added > MAX_LOST_PAGES) {
                    throw new IOException("more than " + MAX_LOST_PAGES + " pages of inode " + inode.id()
                            + " may be lost or may be holes; restore the newest backup instead");
                }
                int length = (int) Math.min(pageBytes, size - page * pageBytes);
                batch.put(Family.RECIPE, key, RecipeFormat.encode(key, lostPage(length)));
                bytes += length;
                lostPages++;
            }
        }
        if (added > 0) {
            told.add("up to " + bytes + " bytes of inode " + inode.id() + ", in " + added
                    + " pages of its recipe; reading them is an error");
        }
        return bytes;
    }

    private RecipePage lostPage(int length) {
        return new RecipePage.Builder()
                .add(ChunkId.of(lostContainer, 0), 0, length, 0)
                .build();
    }
}
