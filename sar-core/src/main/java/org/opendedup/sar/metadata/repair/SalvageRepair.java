package org.opendedup.sar.metadata.repair;

import java.io.IOException;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.metadata.MetadataRecords;
import org.opendedup.sar.metadata.counts.DamageRecords;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.db.RecordCursor;
import org.opendedup.sar.metadata.record.ContainerCounts;
import org.opendedup.sar.metadata.record.EntryNames;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.Modes;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The repair of a database that has the records of a damaged one that could be read ({@link MetadataSalvage}). It knows
 * which records may be lost: what others refer to is made anew, and bytes that may be lost become errors, never zeros.
 * Its changes are durable with {@link #complete}; the damaged database has all that they replace.
 */
public final class SalvageRepair extends MetadataRepair {
    private static final Logger log = LoggerFactory.getLogger(SalvageRepair.class);

    /** Pages that may be lost of a file of which much less is lost: the others are holes, but nobody knows which. */
    static final long MOST_DOUBTFUL_PAGES = 1 << 16;

    private final LostRecords lost;
    /** Inodes that were made anew, the first ones, and how many more there are. */
    private final TreeSet<Long> remade = new TreeSet<>();

    private long moreRemade;

    /**
     * @param backingFiles see {@link MetadataRepair}
     * @param nowNs the present time, in nanoseconds since 1970
     */
    public SalvageRepair(KeyValueStore database, LostRecords lost, BackingFiles backingFiles, long nowNs)
            throws IOException {
        super(database, backingFiles, nowNs);
        this.lost = lost;
    }

    /** Ends the salvage, after all corrections: everything is durable then. */
    public void complete() throws IOException {
        remakeRaws();
        finish();
        tellRemade();
        DamageRecords.recount(database);
    }

    private boolean isLost(Family family, long number) {
        return lost.contains(family, Keys.of(number));
    }

    private boolean isLostInode(long inode) throws IOException {
        return get(Family.INODE, Keys.of(inode)) == null && isLost(Family.INODE, inode);
    }

    private void remake(Inode inode) throws IOException {
        make(inode, "inode " + inode.id() + " was made anew");
        note(inode.id());
    }

    private void note(long inode) {
        if (remade.size() < Sentences.MOST) {
            remade.add(inode);
        } else {
            moreRemade++;
        }
    }

    private static String text(long directory, MetadataRecords.Name name) {
        return "'" + EntryNames.text(name.name()) + "' in the folder with inode " + directory + " (inode "
                + name.inode() + ")";
    }

    /** A symbolic link or a device has its content in the inode: its name is taken out. */
    @Override
    public void name(long directory, long hash, long inode) throws IOException {
        if (isLostInode(inode)) {
            try (RecordCursor<MetadataRecords.Name> names = records().names(directory, hash)) {
                while (names.next()) {
                    MetadataRecords.Name name = names.value();
                    if (name != null && name.inode() == inode) {
                        remake(directory, name);
                    }
                }
            }
        }
        super.name(directory, hash, inode);
    }

    private void remake(long directory, MetadataRecords.Name name) throws IOException {
        int type = name.type();
        if (Modes.isDirectory(type)) {
            remake(LostAndFound.directory(name.inode(), directory, nowNs));
        } else if (type == Modes.REGULAR || type == Modes.FIFO || type == Modes.SOCKET) {
            remake(LostAndFound.file(name.inode(), type, nowNs));
        } else {
            lost.say("the symbolic link or device " + text(directory, name));
        }
    }

    @Override
    public void namesWithoutDirectory(long directory) throws IOException {
        super.namesWithoutDirectory(directory);
        note(directory);
    }

    @Override
    public void nameless(long inode) throws IOException {
        String path = adopt(inode);
        if (!path.isEmpty()) {
            lost.say("the name of inode " + inode + ", which is now " + path);
        }
    }

    @Override
    public void recipeWithoutInode(long inode) throws IOException {
        super.recipeWithoutInode(inode);
        note(inode);
        Inode made = inode(inode);
        if (made != null) {
            long added = Math.max(0, addLostPages(made, MOST_DOUBTFUL_PAGES));
            put(made.withBytes(made.size(), made.dataBytes() + added));
        }
    }

    /** An inode counts the bytes that its recipe takes from chunks, so a file that has lost nothing is known. */
    @Override
    public void dataBytes(long inode, long bytes) throws IOException {
        Inode now = inode(inode);
        long added = 0;
        if (now != null && now.isFile() && now.dataBytes() > bytes) {
            long lostPages = (now.dataBytes() - bytes + records().pageBytes() - 1)
                    / records().pageBytes();
            added = addLostPages(now, Math.max(MOST_DOUBTFUL_PAGES, 2 * lostPages));
        }
        if (added >= 0) {
            super.dataBytes(inode, bytes + added);
        }
    }

    /**
     * Makes errors of the pages that may be lost.
     *
     * @param most with more pages, the whole file cannot be opened
     * @return the bytes that were added to the recipe; -1 if the file cannot be opened
     */
    private long addLostPages(Inode inode, long most) throws IOException {
        long id = inode.id();
        byte[] unopenable = Keys.of(id, Long.MAX_VALUE);
        if (get(Family.INTENT, unopenable) != null) {
            return -1;
        }
        long pageBytes = records().pageBytes();
        long end = (inode.size() + pageBytes - 1) / pageBytes;
        long[] added = {0, 0};
        LostPages.forEach(database, lost, id, end, page -> ++added[0] <= most);
        if (added[0] > most) {
            put(Family.INTENT, unopenable, MetadataSalvage.unopenable());
            done("inode " + id + " cannot be opened");
            lost.say("bytes of inode " + id + ", which has more than " + most + " pages where they or holes may have"
                    + " been; it cannot be opened until sdfs-check --repair takes them for holes");
            return -1;
        }
        LostPages.forEach(database, lost, id, end, page -> {
            int length = (int) Math.min(pageBytes, inode.size() - page * pageBytes);
            byte[] key = Keys.of(id, page);
            // Also for snapshots, which would read zeros.
            putForLater(key, LostPages.encode(key, lost.container(), length));
            added[1] += length;
            flushIfLarge();
            return true;
        });
        if (added[0] > 0) {
            lost.say("up to " + added[1] + " bytes of inode " + id + ", in " + added[0]
                    + " pages of its recipe; reading them is an error");
        }
        return added[1];
    }

    /**
     * Writes the orphan record again if it may be lost. Without it, nothing frees the pages after the end of the file.
     */
    @Override
    public void size(long inode, long size) throws IOException {
        Inode now = inode(inode);
        byte[] key = Keys.of(inode);
        if (now != null && isLost(Family.ORPHAN, inode) && get(Family.ORPHAN, key) == null) {
            long firstDead =
                    (now.size() + records().pageBytes() - 1) / records().pageBytes();
            try (KeyValueStore.Cursor dead =
                    database.scan(Family.RECIPE, Keys.of(inode, firstDead), Keys.of(inode + 1))) {
                if (dead.next()) {
                    orphan(inode, firstDead);
                    return;
                }
            }
        }
        super.size(inode, size);
    }

    @Override
    public void counts(
            long container,
            @Nullable ContainerCounts found,
            int[] references,
            int[] continuations,
            int slots,
            @Nullable Lengths lengths)
            throws IOException {
        Lengths known = lengths;
        if (container == lost.container()) {
            int pageBytes = records().pageBytes();
            known = slot -> pageBytes;
        } else if (found == null && !lost.isEmpty()) {
            lost.addRemadeCounts();
        }
        super.counts(container, found, references, continuations, slots, known);
    }

    /** A file with damaged records cannot be opened until an administrator gives their bytes up. */
    @Override
    public void intents(long inode, boolean isFile) throws IOException {
        if (!isFile && !isFileNow(inode)) {
            super.intents(inode, false);
        }
    }

    @Override
    public void raw(long inode) throws IOException {
        if (!isFileNow(inode)) {
            super.raw(inode);
        }
    }

    /** Returns whether an inode is a file, which it becomes if its record is lost. */
    private boolean isFileNow(long inode) throws IOException {
        if (isLostInode(inode)) {
            remake(LostAndFound.file(inode, Modes.REGULAR, nowNs));
        }
        Inode now = inode(inode);
        return now != null && (now.mode() & Modes.TYPE) == Modes.REGULAR;
    }

    /**
     * Makes the records of raw files anew that may be lost: of those without bytes in chunks, which would read as
     * zeros. A file that has both may have been migrated, and the backing file be old.
     */
    private void remakeRaws() throws IOException {
        if (lost.of(Family.RAW).isEmpty()) {
            return;
        }
        try {
            backingFiles.forEachInode(inode -> {
                boolean mayBeLost = isLost(Family.RAW, inode) && get(Family.RAW, Keys.of(inode)) == null;
                boolean isNameless = isLostInode(inode);
                Inode file = mayBeLost && isFileNow(inode) ? inode(inode) : null;
                if (file != null && file.links() > 0 && file.dataBytes() == 0) {
                    rawDamaged(inode);
                    if (isNameless) {
                        // The checks are over, which would have found that.
                        nameless(inode);
                    }
                }
            });
        } catch (IOException e) {
            log.warn("the fast tier cannot be used: {}", e.getMessage());
            lost.say("which files lie whole on the fast tier, because it cannot be used (" + e.getMessage()
                    + "): they read as zeros");
        }
    }

    private void tellRemade() throws IOException {
        try (RecordCursor<MetadataRecords.Name> names = records().names()) {
            while (!remade.isEmpty() && names.next()) {
                MetadataRecords.Name name = names.value();
                if (name != null && remade.remove(name.inode())) {
                    lost.say(
                            Modes.isDirectory(name.type())
                                    ? "owner, mode and times of the folder " + text(names.id(), name)
                                    : "owner, mode, times and exact length of " + text(names.id(), name));
                }
            }
        }
        if (moreRemade > 0) {
            lost.say("owner, mode, times and exact length of " + moreRemade
                    + " more files and folders, which belong to root now");
        }
    }
}
