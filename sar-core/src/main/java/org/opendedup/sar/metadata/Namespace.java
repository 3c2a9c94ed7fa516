package org.opendedup.sar.metadata;

import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.UnsupportedFormatException;
import org.opendedup.sar.metadata.db.KeyValueStore.Cursor;
import org.opendedup.sar.metadata.db.KeyValueStore.Family;
import org.opendedup.sar.metadata.pending.HeldRange;
import org.opendedup.sar.metadata.pending.Overlay;
import org.opendedup.sar.metadata.record.Births;
import org.opendedup.sar.metadata.record.Entry;
import org.opendedup.sar.metadata.record.EntryNames;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.metadata.record.Keys;
import org.opendedup.sar.metadata.record.Modes;
import org.opendedup.sar.metadata.record.NameHash;
import org.opendedup.sar.metadata.record.Orphan;
import org.opendedup.sar.metadata.record.SnapshotIds;
import org.opendedup.sar.metadata.record.ValueReader;
import org.opendedup.sar.metadata.record.ValueWriter;
import org.opendedup.sar.metadata.versions.Snapshots;

/**
 * Inodes, directory entries, extended attributes and orphans. Reads may run at any time from any thread. Changes of one
 * inode, name or attribute must not run concurrently, and none may run during {@link MetadataStore#freeze()}: the
 * caller locks.
 *
 * <p>A directory's entries are stored, and listed, in the order of a hash of their names. So an entry's position, its
 * cookie, stays the same when the entries around it change.
 */
public final class Namespace {
    /** Receives inodes one by one; see {@link #someInodes}. */
    @FunctionalInterface
    public interface InodeConsumer {
        void accept(Inode inode) throws IOException;
    }

    /** Receives a directory's entries one by one; see {@link #list}. */
    @FunctionalInterface
    public interface EntryConsumer {
        /**
         * @param name the entry's name
         * @param inode inode number of the entry's target
         * @param type file type, as in {@code mode & S_IFMT}
         * @param cookie continues the listing after this entry
         * @return false if the entry was not accepted: the listing stops
         */
        boolean accept(byte[] name, long inode, int type, long cookie) throws IOException;
    }

    /** The name of the folder of the snapshots, in the root directory. It is not listed. */
    public static final String SNAPSHOT_FOLDER = ".snapshots";

    private static final byte[] SNAPSHOT_FOLDER_NAME = SNAPSHOT_FOLDER.getBytes(StandardCharsets.US_ASCII);

    /** Maximum number of orphans returned at once: the list stays small after a million files were removed. */
    public static final int MAX_ORPHANS = 10_000;

    private static final int VERSION = 1;

    /** The type of a directory in a mode, S_IFDIR. */
    private final Overlay overlay;

    private final Snapshots snapshots;
    private final NameHash nameHash;

    Namespace(Overlay overlay, Snapshots snapshots, NameHash nameHash) {
        this.overlay = overlay;
        this.snapshots = snapshots;
        this.nameHash = nameHash;
    }

    public @Nullable Inode inode(long id) throws IOException {
        if (id == SnapshotIds.FOLDER) {
            return snapshots.folder();
        }
        byte[] value = overlay.get(Family.INODE, Keys.of(id));
        return value == null ? null : Inode.decode(id, value);
    }

    public void put(Inode inode) {
        overlay.put(Family.INODE, Keys.of(inode.id()), Inode.encode(inode));
    }

    /** Removes only the inode's record, not its attributes, entries or recipe. */
    public void remove(long id) {
        overlay.remove(Family.INODE, Keys.of(id));
    }

    /**
     * Visits inodes in ascending order of numbers, at most {@code max} of them, so that no cursor stays open for long.
     *
     * @param from smallest number to visit
     * @return the number to go on from; 0 if there are no more
     */
    public long someInodes(long from, int max, InodeConsumer consumer) throws IOException {
        try (Cursor cursor = overlay.scan(Family.INODE, Keys.of(from), Keys.END)) {
            for (int visited = 0; visited < max; visited++) {
                if (!cursor.next()) {
                    return 0;
                }
                consumer.accept(Inode.decode(Keys.longAt(cursor.key(), 0), cursor.value()));
            }
            return cursor.next() ? Keys.longAt(cursor.key(), 0) : 0;
        }
    }

    public @Nullable Entry entry(long directory, byte[] name) throws IOException {
        if (directory == SnapshotIds.FOLDER) {
            long root = snapshots.root(name);
            return root == 0 ? null : new Entry(root, Modes.DIRECTORY);
        }
        if (isSnapshotFolder(directory, name)) {
            return new Entry(SnapshotIds.FOLDER, Modes.DIRECTORY);
        }
        byte[] value = overlay.get(Family.ENTRY, entryKey(directory, name));
        return value == null ? null : Entry.decode(directory, value);
    }

    /**
     * @param name a name that {@link EntryNames} allows
     * @param type file type, as in {@code mode & S_IFMT}
     */
    public void putEntry(long directory, byte[] name, long inode, int type) {
        if (!EntryNames.isValid(name)) {
            throw new IllegalArgumentException("no name of an entry: " + EntryNames.text(name));
        }
        overlay.put(Family.ENTRY, entryKey(directory, name), Entry.encode(inode, type));
    }

    public void removeEntry(long directory, byte[] name) {
        overlay.remove(Family.ENTRY, entryKey(directory, name));
    }

    public boolean isEmpty(long directory) throws IOException {
        try (Cursor cursor = overlay.scan(Family.ENTRY, Keys.of(directory), Keys.of(directory + 1))) {
            return !cursor.next();
        }
    }

    /**
     * Lists a directory in the order of its names' hashes. An entry that stays in the directory is listed, even if
     * other entries are added and removed in the meantime.
     *
     * <p>A cookie is a hash: the listing continues with the next greater one. Names of equal hash form a group, which a
     * cookie cannot split. So only the last name of a group gets the group's hash; the others get the hash minus one,
     * which starts the group again. A listing that stops inside a group and continues may therefore return some of its
     * names twice, but loses none. (With 63 bits and a secret key, groups of two are not expected in any directory.)
     *
     * @param cookie 0 for the beginning, or a cookie that the consumer received; 1 to 15 are never used as cookies and
     *     also mean the beginning
     * @throws CorruptionException at a name that {@link EntryNames} does not allow, or that is stored where no lookup
     *     finds it
     */
    public void list(long directory, long cookie, EntryConsumer consumer) throws IOException {
        if (directory == SnapshotIds.FOLDER) {
            snapshots.forEachEntry(cookie, (name, root, next) -> consumer.accept(name, root, Modes.DIRECTORY, next));
            return;
        }
        byte[] from = Keys.of(directory, cookie + 1);
        try (Cursor cursor = overlay.scan(Family.ENTRY, from, Keys.of(directory + 1))) {
            boolean more = cursor.next();
            while (more) {
                byte[] key = cursor.key();
                byte[] name = decodeName(directory, key);
                Entry entry = Entry.decode(directory, cursor.value());
                long hash = Keys.longAt(key, Keys.LONG_BYTES);
                more = cursor.next();
                boolean groupGoesOn = more && hasHash(cursor.key(), hash);
                if (!consumer.accept(name, entry.inode(), entry.type(), groupGoesOn ? hash - 1 : hash)) {
                    return;
                }
            }
        }
    }

    public byte @Nullable [] attribute(long inode, byte[] name) throws IOException {
        byte[] value = overlay.get(Family.XATTR, Keys.of(inode, name));
        return value == null ? null : decodeAttribute(inode, value);
    }

    static byte[] decodeAttribute(long inode, byte[] value) throws CorruptionException, UnsupportedFormatException {
        ValueReader in = new ValueReader(Births.body(value), "attribute of inode", inode).expectVersion(VERSION);
        return in.readBytes(in.remaining());
    }

    public void putAttribute(long inode, byte[] name, byte[] value) {
        byte[] record = new ValueWriter(1 + value.length)
                .writeByte(VERSION)
                .writeBytes(value)
                .toBytes();
        overlay.put(Family.XATTR, Keys.of(inode, name), record);
    }

    public void removeAttribute(long inode, byte[] name) {
        overlay.remove(Family.XATTR, Keys.of(inode, name));
    }

    /** Returns the names of an inode's attributes, in byte order. */
    public List<byte[]> attributes(long inode) throws IOException {
        List<byte[]> names = new ArrayList<>();
        try (Cursor cursor = overlay.scan(Family.XATTR, Keys.of(inode), Keys.of(inode + 1))) {
            while (cursor.next()) {
                byte[] key = cursor.key();
                names.add(Arrays.copyOfRange(key, Keys.LONG_BYTES, key.length));
            }
        }
        return names;
    }

    /** Returns whether an inode has any extended attribute. */
    public boolean hasAttributes(long inode) throws IOException {
        try (Cursor cursor = overlay.scan(Family.XATTR, Keys.of(inode), Keys.of(inode + 1))) {
            return cursor.next();
        }
    }

    /**
     * What the extended attributes of an inode take, in bytes.
     *
     * @param names their names, each with a terminating byte
     * @param values their values
     */
    public record AttributeBytes(long names, long values) {}

    /** Returns what the extended attributes of an inode take. Reads all of them. */
    public AttributeBytes attributeBytes(long inode) throws IOException {
        return attributeBytesWithout(inode, new byte[0]);
    }

    /** Returns what the extended attributes of an inode take, without the one of this name. Reads all of them. */
    public AttributeBytes attributeBytesWithout(long inode, byte[] name) throws IOException {
        byte[] except = Keys.of(inode, name);
        long names = 0;
        long values = 0;
        try (Cursor cursor = overlay.scan(Family.XATTR, Keys.of(inode), Keys.of(inode + 1))) {
            while (cursor.next()) {
                byte[] key = cursor.key();
                if (!Arrays.equals(key, except)) {
                    names += key.length - Keys.LONG_BYTES + 1;
                    values += Births.body(cursor.value()).length - 1;
                }
            }
        }
        return new AttributeBytes(names, values);
    }

    /**
     * Records that the recipe pages of an inode from {@code fromPage} on are dead, and must be removed in the
     * background; 0 means the whole inode. After several calls for one inode the smallest page is valid. A page of that
     * range must not be written again until {@link #removeOrphan}.
     */
    public void addOrphan(long inode, long fromPage) throws IOException {
        byte[] key = Keys.of(inode);
        // Most orphans start at the first page; then the earlier record makes no difference.
        byte[] before = fromPage == 0 ? null : overlay.get(Family.ORPHAN, key);
        long first = before == null
                ? fromPage
                : Math.min(fromPage, decodeOrphan(inode, before).fromPage());
        overlay.put(Family.ORPHAN, key, encodeOrphan(first));
    }

    public static byte[] encodeOrphan(long fromPage) {
        return new ValueWriter(10).writeByte(VERSION).writeVarint(fromPage).toBytes();
    }

    /** Keeps an orphan's record in memory until the result is closed: then {@link #addOrphan} waits for no disk. */
    public Closeable holdOrphan(long inode) throws IOException {
        byte[] key = Keys.of(inode);
        HeldRange range = overlay.hold(Family.ORPHAN, key, key, Keys.of(inode + 1), 1);
        return () -> overlay.release(range);
    }

    public void removeOrphan(long inode) {
        overlay.remove(Family.ORPHAN, Keys.of(inode));
    }

    /**
     * Returns the orphans in the order of inode numbers, the first {@value #MAX_ORPHANS}: remove them to get the
     * others.
     */
    public List<Orphan> orphans() throws IOException {
        List<Orphan> orphans = new ArrayList<>();
        try (Cursor cursor = overlay.scan(Family.ORPHAN, Keys.FIRST, Keys.END)) {
            while (orphans.size() < MAX_ORPHANS && cursor.next()) {
                orphans.add(decodeOrphan(Keys.longAt(cursor.key(), 0), cursor.value()));
            }
        }
        return orphans;
    }

    /** Receives a name; see {@link #forEachEntry}. */
    @FunctionalInterface
    public interface NameVisitor {
        void accept(long directory, byte[] name, long inode, boolean isDirectory) throws IOException;
    }

    /**
     * Visits names of all directories.
     *
     * @param max maximum number of names
     * @throws IOException if the database cannot be read, or has an invalid record
     */
    public void forEachEntry(long max, NameVisitor visitor) throws IOException {
        forEachEntry(0, max, visitor);
    }

    /**
     * Visits names of all directories of a snapshot, as {@link #forEachEntry(long, NameVisitor)} does.
     *
     * @param snapshot its number; 0 for the present names
     */
    public void forEachEntry(long snapshot, long max, NameVisitor visitor) throws IOException {
        byte[] from = snapshot == 0 ? Keys.FIRST : Keys.of(SnapshotIds.of(snapshot, 0));
        byte[] to = snapshot == 0 ? Keys.END : Keys.of(SnapshotIds.of(snapshot + 1, 0));
        try (Cursor cursor = overlay.scan(Family.ENTRY, from, to)) {
            for (long count = 0; count < max && cursor.next(); count++) {
                long directory = Keys.longAt(cursor.key(), 0);
                Entry entry = Entry.decode(directory, cursor.value());
                boolean isDirectory = Modes.isDirectory(entry.type());
                visitor.accept(directory, decodeName(directory, cursor.key()), entry.inode(), isDirectory);
            }
        }
    }

    /** Returns the position of a name in its directory, the same in all snapshots. */
    public long position(long directory, byte[] name) {
        return hash(directory, name);
    }

    /** Returns the name at a position of a directory that leads to an inode; null if there is none. */
    public byte @Nullable [] nameAt(long directory, long position, long inode) throws IOException {
        // To the next position only: in a scan of the whole directory, removed names behind it are passed over.
        try (Cursor cursor =
                overlay.scan(Family.ENTRY, Keys.of(directory, position), Keys.of(directory, position + 1))) {
            while (cursor.next()) {
                if (Entry.decode(directory, cursor.value()).inode() == inode) {
                    return decodeName(directory, cursor.key());
                }
            }
        }
        return null;
    }

    /** Returns whether a name is that of the folder of the snapshots, which no file has. */
    public static boolean isSnapshotFolder(long directory, byte[] name) {
        return directory == Inode.ROOT && Arrays.equals(name, SNAPSHOT_FOLDER_NAME);
    }

    private byte[] entryKey(long directory, byte[] name) {
        return Keys.of(directory, hash(directory, name), name);
    }

    private byte[] decodeName(long directory, byte[] key) throws CorruptionException {
        byte[] name = Entry.name(key);
        if (!EntryNames.isValid(name) || !hasHash(key, hash(directory, name))) {
            throw new CorruptionException(
                    "entry of directory " + directory, -1, "a name at its hash", "'" + EntryNames.text(name) + "'");
        }
        return name;
    }

    /** Returns the hash of a name, which is the same in snapshots. */
    private long hash(long directory, byte[] name) {
        return nameHash.of(SnapshotIds.inode(directory), name);
    }

    private static boolean hasHash(byte[] key, long hash) {
        return key.length >= Entry.NAME_OFFSET && Keys.longAt(key, Keys.LONG_BYTES) == hash;
    }

    public static Orphan decodeOrphan(long inode, byte[] value) throws CorruptionException, UnsupportedFormatException {
        ValueReader in = new ValueReader(value, "orphan inode", inode).expectVersion(VERSION);
        long fromPage = in.readVarint(Long.MAX_VALUE);
        in.expectEnd();
        return new Orphan(inode, fromPage);
    }
}
