package org.opendedup.sar.metadata;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.opendedup.sar.metadata.KeyValueStore.Batch;
import org.opendedup.sar.metadata.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.KeyValueStore.Family;

/**
 * Makes names and inodes of a salvaged database agree. An inode that is lost and has a name or a recipe is made anew,
 * as root's and for root only. An inode without a name, which is not being freed, gets one in a folder
 * ({@link LostAndFound}), as a repair does it (docs/adr/0041). Keeps 16 bytes in memory for each name, and 8 for each
 * inode.
 */
final class SalvagedNames {
    private final KeyValueStore database;
    private final NameHash hash;
    private final long nowNs;
    private final LostRecords lost;
    private final List<String> told;
    /** Inodes that were made anew: their sizes come from their recipes. */
    private final TreeSet<Long> remade = new TreeSet<>();
    /** Ids of the inodes that exist, ascending. */
    private long[] inodes = {};
    /** The inode of each name, ascending. */
    private long[] named = {};
    /** The folder of each name of a folder, ascending. */
    private long[] parents = {};

    private long lostAndFound;
    /** Name of that folder. */
    private String foundName = LostAndFound.folderName(0);

    private record Name(long directory, byte[] name, int type) {}

    /**
     * @param nowNs times of new inodes, in nanoseconds since 1970
     * @param told receives what is lost, as sentences
     */
    SalvagedNames(KeyValueStore database, NameHash hash, long nowNs, LostRecords lost, List<String> told) {
        this.database = database;
        this.hash = hash;
        this.nowNs = nowNs;
        this.lost = lost;
        this.told = told;
    }

    /** Returns the number of inodes. */
    long inodes() {
        return inodes.length;
    }

    TreeSet<Long> remade() {
        return remade;
    }

    /**
     * Makes them agree.
     *
     * @param freeInode a number above that of every inode
     * @return a number above that of every inode now
     */
    long run(long freeInode, SalvageProgress progress) throws IOException {
        progress.at("names", 0, 0);
        removeDamaged();
        readInodes();
        Map<Long, Name> missing = new TreeMap<>();
        TreeSet<Long> folders = new TreeSet<>();
        readNames(missing, folders);
        remake(missing);
        for (long folder : folders) {
            if (!missing.containsKey(folder)) {
                put(LostAndFound.directory(folder, Inode.ROOT, nowNs));
                remade.add(folder);
            }
        }
        for (long inode : withRecipe()) {
            if (!exists(inode) && !missing.containsKey(inode) && !folders.contains(inode)) {
                put(LostAndFound.file(inode, Modes.REGULAR, nowNs));
                remade.add(inode);
            }
        }
        if (!exists(Inode.ROOT) && !remade.contains(Inode.ROOT)) {
            put(LostAndFound.directory(Inode.ROOT, Inode.ROOT, nowNs));
            remade.add(Inode.ROOT);
        }
        readInodes();
        readNames(new TreeMap<>(), new TreeSet<>());
        long free = nameTheNameless(freeInode);
        readInodes();
        readNames(new TreeMap<>(), new TreeSet<>());
        correctInodes();
        return free;
    }

    /** Removes inodes and names that can be read and make no sense: they count as lost. */
    private void removeDamaged() throws IOException {
        List<byte[]> wrong = new ArrayList<>();
        try (Cursor cursor = database.scan(Family.INODE, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                if (!isInode(cursor.key(), cursor.value())) {
                    wrong.add(cursor.key());
                }
            }
        }
        delete(Family.INODE, wrong);
        wrong.clear();
        try (Cursor cursor = database.scan(Family.ENTRY, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                if (!isName(cursor.key(), cursor.value())) {
                    wrong.add(cursor.key());
                }
            }
        }
        delete(Family.ENTRY, wrong);
        wrong.clear();
        try (Cursor cursor = database.scan(Family.ORPHAN, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                if (!isOrphan(cursor.key(), cursor.value())) {
                    wrong.add(cursor.key());
                }
            }
        }
        delete(Family.ORPHAN, wrong);
    }

    private static boolean isOrphan(byte[] key, byte[] value) {
        try {
            return key.length == Keys.LONG_BYTES
                    && Namespace.decodeOrphan(Keys.longAt(key, 0), value).inode() > 0;
        } catch (IOException e) {
            return false;
        }
    }

    private void delete(Family family, List<byte[]> keys) throws IOException {
        if (keys.isEmpty()) {
            return;
        }
        try (Batch batch = database.batch()) {
            for (byte[] key : keys) {
                lost.addRecord(family, key);
                batch.delete(family, key);
            }
            batch.commit();
        }
    }

    private static boolean isInode(byte[] key, byte[] value) {
        try {
            return key.length == Keys.LONG_BYTES
                    && InodeFormat.decode(Keys.longAt(key, 0), value).id() > 0;
        } catch (IOException e) {
            return false;
        }
    }

    private boolean isName(byte[] key, byte[] value) {
        try {
            return key.length > EntryFormat.NAME_OFFSET
                    && EntryFormat.decode(key, value, hash).inode() > 0;
        } catch (IOException e) {
            return false;
        }
    }

    private void readInodes() throws IOException {
        Numbers found = new Numbers();
        try (Cursor cursor = database.scan(Family.INODE, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                found.add(Keys.longAt(cursor.key(), 0));
            }
        }
        inodes = found.sorted();
    }

    private boolean exists(long inode) {
        return Arrays.binarySearch(inodes, inode) >= 0;
    }

    /**
     * @param missing receives inodes that have a name and no record, with one of their names
     * @param folders receives folders that have names in them and no record
     */
    private void readNames(Map<Long, Name> missing, TreeSet<Long> folders) throws IOException {
        Numbers ofNames = new Numbers();
        Numbers ofFolders = new Numbers();
        try (Cursor cursor = database.scan(Family.ENTRY, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                byte[] key = cursor.key();
                long directory = Keys.longAt(key, 0);
                Entry entry = EntryFormat.decode(directory, cursor.value());
                ofNames.add(entry.inode());
                if (Modes.isDirectory(entry.type())) {
                    ofFolders.add(directory);
                }
                if (!exists(entry.inode())) {
                    missing.put(entry.inode(), new Name(directory, EntryFormat.name(key), entry.type()));
                }
                if (!exists(directory)) {
                    folders.add(directory);
                }
            }
        }
        named = ofNames.sorted();
        parents = ofFolders.sorted();
    }

    /** Makes inodes anew for their names; removes names of which only the inode had the content. */
    private void remake(Map<Long, Name> missing) throws IOException {
        for (Map.Entry<Long, Name> lack : missing.entrySet()) {
            long inode = lack.getKey();
            Name name = lack.getValue();
            String text = "'" + EntryNames.text(name.name()) + "' in the folder with inode " + name.directory();
            int type = name.type();
            if (Modes.isDirectory(type)) {
                put(LostAndFound.directory(inode, name.directory(), nowNs));
                told.add("owner, mode and times of the folder " + text + " (inode " + inode + ")");
            } else if (type == Modes.REGULAR || type == Modes.FIFO || type == Modes.SOCKET) {
                put(LostAndFound.file(inode, type, nowNs));
                told.add("owner, mode, times and exact length of " + text + " (inode " + inode + ")");
            } else {
                removeNames(inode);
                told.add("the symbolic link or device " + text + " (inode " + inode + ")");
                continue;
            }
            remade.add(inode);
        }
    }

    private void removeNames(long inode) throws IOException {
        List<byte[]> keys = new ArrayList<>();
        try (Cursor cursor = database.scan(Family.ENTRY, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                if (EntryFormat.decode(Keys.longAt(cursor.key(), 0), cursor.value())
                                .inode()
                        == inode) {
                    keys.add(cursor.key());
                }
            }
        }
        try (Batch batch = database.batch()) {
            for (byte[] key : keys) {
                batch.delete(Family.ENTRY, key);
            }
            batch.commit();
        }
    }

    private void put(Inode inode) throws IOException {
        try (Batch batch = database.batch()) {
            batch.put(Family.INODE, Keys.of(inode.id()), InodeFormat.encode(inode));
            batch.commit();
        }
    }

    private List<Long> withRecipe() throws IOException {
        TreeSet<Long> missing = new TreeSet<>();
        for (Family family : List.of(Family.RECIPE, Family.INTENT, Family.RAW)) {
            try (Cursor cursor = database.scan(family, Keys.FIRST, Keys.END)) {
                while (cursor.next()) {
                    long inode = Keys.longAt(cursor.key(), 0);
                    if (!exists(inode)) {
                        missing.add(inode);
                    }
                }
            }
        }
        return List.copyOf(missing);
    }

    /** Gives a name to each inode that must have one and has none. */
    private long nameTheNameless(long freeInode) throws IOException {
        List<Inode> nameless = new ArrayList<>();
        try (Cursor cursor = database.scan(Family.INODE, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                Inode inode = InodeFormat.decode(Keys.longAt(cursor.key(), 0), cursor.value());
                if (inode.id() == Inode.ROOT || count(named, inode.id()) > 0) {
                    continue;
                }
                if (inode.links() > 0 || !isBeingFreed(inode.id())) {
                    nameless.add(inode);
                }
            }
        }
        if (nameless.isEmpty()) {
            return freeInode;
        }
        long free = openLostAndFound(freeInode);
        try (Batch batch = database.batch()) {
            for (Inode inode : nameless) {
                String name = LostAndFound.nameOf(inode.id());
                batch.put(
                        Family.ENTRY,
                        LostAndFound.entryKey(hash, lostAndFound, name),
                        EntryFormat.encode(inode.id(), inode.type()));
                told.add("the name of inode " + inode.id() + ", which is now /" + foundName + "/" + name);
            }
            batch.commit();
        }
        return free;
    }

    /** Returns whether the whole inode, not only a tail of it, waits to be freed. */
    private boolean isBeingFreed(long inode) throws IOException {
        byte[] value = database.get(Family.ORPHAN, Keys.of(inode));
        return value != null && Namespace.decodeOrphan(inode, value).fromPage() == 0;
    }

    private long openLostAndFound(long freeInode) throws IOException {
        byte[] key = foundKey();
        byte[] value = database.get(Family.ENTRY, key);
        for (int number = 1; value != null; number++) {
            Entry present = EntryFormat.decode(Inode.ROOT, value);
            if (Modes.isDirectory(present.type())) {
                lostAndFound = present.inode();
                return freeInode;
            }
            foundName = LostAndFound.folderName(number);
            key = foundKey();
            value = database.get(Family.ENTRY, key);
        }
        lostAndFound = freeInode;
        put(LostAndFound.directory(lostAndFound, Inode.ROOT, nowNs));
        try (Batch batch = database.batch()) {
            batch.put(Family.ENTRY, key, EntryFormat.encode(lostAndFound, Modes.DIRECTORY));
            batch.commit();
        }
        return freeInode + 1;
    }

    private byte[] foundKey() {
        return LostAndFound.entryKey(hash, Inode.ROOT, foundName);
    }

    /** Sets the number of names of each inode, and the folder of each folder. */
    private void correctInodes() throws IOException {
        Map<Long, Long> folderOf = new HashMap<>();
        try (Cursor cursor = database.scan(Family.ENTRY, Keys.FIRST, Keys.END)) {
            while (cursor.next()) {
                long directory = Keys.longAt(cursor.key(), 0);
                Entry entry = EntryFormat.decode(directory, cursor.value());
                if (Modes.isDirectory(entry.type()) && parentOf(entry.inode()) != directory) {
                    folderOf.put(entry.inode(), directory);
                }
            }
        }
        try (Cursor cursor = database.scan(Family.INODE, Keys.FIRST, Keys.END);
                Batch batch = database.batch()) {
            while (cursor.next()) {
                Inode inode = InodeFormat.decode(Keys.longAt(cursor.key(), 0), cursor.value());
                Inode right = inode.withParent(folderOf.getOrDefault(inode.id(), inode.parent()));
                boolean isNamed = count(named, inode.id()) > 0 || inode.id() == Inode.ROOT;
                if (inode.isDirectory() && (inode.links() > 0 || isNamed)) {
                    right = right.withLinks(2 + count(parents, inode.id()));
                } else if (isNamed) {
                    right = right.withLinks(count(named, inode.id()));
                }
                if (right.links() != inode.links() || right.parent() != inode.parent()) {
                    batch.put(Family.INODE, cursor.key(), InodeFormat.encode(right));
                }
            }
            batch.commit();
        }
    }

    private long parentOf(long inode) throws IOException {
        byte[] value = database.get(Family.INODE, Keys.of(inode));
        return value == null ? 0 : InodeFormat.decode(inode, value).parent();
    }

    /** Returns how often a number is in a sorted array. */
    private static int count(long[] numbers, long number) {
        return lowest(numbers, number + 1) - lowest(numbers, number);
    }

    /** Returns the index of the first number that is not lower. */
    private static int lowest(long[] numbers, long number) {
        int from = 0;
        int to = numbers.length;
        while (from < to) {
            int middle = (from + to) >>> 1;
            if (numbers[middle] < number) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return from;
    }

    /** Collects numbers. */
    private static final class Numbers {
        private long[] numbers = new long[1024];
        private int count;

        void add(long number) {
            if (count == numbers.length) {
                numbers = Arrays.copyOf(numbers, 2 * count);
            }
            numbers[count++] = number;
        }

        long[] sorted() {
            long[] sorted = Arrays.copyOf(numbers, count);
            Arrays.sort(sorted);
            return sorted;
        }
    }
}
