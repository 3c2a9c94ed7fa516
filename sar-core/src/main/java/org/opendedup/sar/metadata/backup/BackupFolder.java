package org.opendedup.sar.metadata.backup;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.crypt.KeyedHash;
import org.opendedup.sar.crypt.Purpose;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.io.Output;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A folder with backups of one metadata database. A table of RocksDB never changes, so backups share it: only tables
 * that no earlier backup has are copied. The list of a backup's files is written last, when all of them are durable; a
 * backup without a list does not exist, and the next one removes what is left of it.
 *
 * <p>A table is known by its number, its length and the hash of its last bytes. These contain its properties, with the
 * random id of the database's session that made it. So a table of another history that has the same number differs.
 *
 * <p>A file that is found damaged is renamed, and thereby missing: the next backup copies it again if its database has
 * it, and until then everybody sees which backups lack it. A list that is damaged or cannot be read is no backup. It
 * hides which tables it has, so these stay until it is as old as backups that are removed.
 *
 * <p>For one thread at a time, but for {@link #find}.
 */
public final class BackupFolder {
    private static final Logger log = LoggerFactory.getLogger(BackupFolder.class);
    private static final int BUFFER_BYTES = 256 << 10;
    /** Sees each step of a copy; may wait in it, so that others have the disk, or stop it by an exception. */
    @FunctionalInterface
    public interface Steps {
        Steps UNBOUND = bytes -> {};

        /** @param bytes bytes that were copied or read since the last call */
        void copied(long bytes) throws IOException;
    }

    /** Checks a table of the database before it is copied, by name; throws if it is damaged. */
    @FunctionalInterface
    public interface TableCheck {
        void check(String table) throws IOException;
    }

    private final Directory folder;
    private final String shown;
    /** Null: lists are not authenticated. */
    private final @Nullable KeyedHash authenticates;

    /** @param keys of an encrypted volume; null: it is not encrypted, or its lists are only shown */
    public BackupFolder(Directory folder, @Nullable VolumeKeys keys) {
        this(folder, folder.toString(), keys);
    }

    /** @param shown path of the folder for messages */
    BackupFolder(Directory folder, String shown, @Nullable VolumeKeys keys) {
        this.folder = folder;
        this.shown = shown;
        authenticates = keys == null ? null : keys.keyedHash(Purpose.LISTS);
    }

    private BackupLists lists() throws IOException {
        return BackupLists.of(folder, shown, authenticates);
    }

    /**
     * Returns the backups, the oldest first. A list that is damaged or cannot be read is left out; {@link #findings}
     * names it.
     */
    public List<Backup> list() throws IOException {
        return lists().backups();
    }

    /** As {@link #list}, the newest first. */
    public List<Backup> newestFirst() throws IOException {
        List<Backup> backups = new ArrayList<>(list());
        Collections.reverse(backups);
        return backups;
    }

    /** Returns what is wrong with the backups, each in a sentence without its full stop; reads only their lists. */
    public List<String> findings() throws IOException {
        return lists().findings(new HashSet<>(folder.names()));
    }

    /** Returns whether all files of a backup are there; reads none. */
    public boolean isWhole(Backup backup) throws IOException {
        return BackupLists.missing(backup, new HashSet<>(folder.names())) == 0;
    }

    /**
     * Adds a backup; durable when it returns.
     *
     * @param database the files of a database that does not change
     * @throws IOException if it fails, or {@code steps} stopped it; earlier backups are not affected
     */
    public Backup add(Directory database, BackupOrigin origin, TableCheck check, Steps steps) throws IOException {
        removeLeftovers();
        Set<String> made = new LinkedHashSet<>();
        try {
            Map<String, BackupFile> known = knownTables();
            long number = nextNumber();
            List<BackupFile> files = new ArrayList<>();
            for (String name : database.names()) {
                String stored = BackupNames.stored(database, name, number);
                BackupFile shared = known.get(stored);
                if (shared != null && folder.exists(stored) && folder.length(stored) == shared.bytes()) {
                    files.add(new BackupFile(name, shared.bytes(), shared.crc(), stored));
                    continue;
                }
                if (BackupNames.isTableOfDatabase(name)) {
                    check.check(name);
                }
                // One that is there and in no list may be in one that cannot be read.
                if (shared == null && !folder.exists(stored)) {
                    made.add(stored);
                }
                files.add(copy(database, name, stored, shared, steps));
            }
            folder.sync();
            Backup backup = new Backup(number, origin, files);
            write(backup);
            return backup;
        } catch (IOException | RuntimeException e) {
            giveBack(made, e);
            throw e;
        }
    }

    /** Removes what a backup that failed has copied: the disk may be full. */
    private void giveBack(Set<String> made, Exception cause) {
        try {
            for (String name : made) {
                if (folder.exists(name)) {
                    folder.delete(name);
                }
            }
            removeLeftovers();
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }

    /** Returns the number of bytes that {@link #add} would copy. */
    public long newBytes(Directory database) throws IOException {
        Map<String, BackupFile> known = knownTables();
        Set<String> names = new HashSet<>(folder.names());
        long bytes = 0;
        for (String name : database.names()) {
            String stored = BackupNames.stored(database, name, 0);
            bytes += known.containsKey(stored) && names.contains(stored) ? 0 : database.length(name);
        }
        return bytes;
    }

    /**
     * Reads a backup from the disk, and copies again what is not as it was written: nobody else reads a table that
     * backups share, before the day on which all of them are needed.
     *
     * @param database the files that the backup was made of
     * @return names of the files of the database that were copied again
     * @throws CorruptionException if a file is damaged here, and the database has other bytes
     */
    public List<String> readBack(Backup backup, Directory database, TableCheck check, Steps steps) throws IOException {
        List<String> mended = new ArrayList<>();
        for (BackupFile file : backup.files()) {
            CorruptionException damage = find(file, steps);
            if (damage == null) {
                continue;
            }
            setAside(file);
            if (BackupNames.isTableOfDatabase(file.name())) {
                check.check(file.name());
            }
            copy(database, file.name(), file.stored(), file, steps);
            mended.add(file.name());
        }
        folder.sync();
        return mended;
    }

    /**
     * Reads a file of a backup from the disk.
     *
     * @return what is wrong with it; null if it is as it was written
     * @throws IOException if it was not possible to tell, or {@code steps} stopped it
     */
    public @Nullable CorruptionException find(BackupFile file, Steps steps) throws IOException {
        try (Input input = open(file)) {
            // What the kernel has in memory says nothing of the disk.
            input.forgetCached(0, input.length());
            check(file, transfer(input, null, steps));
            input.forgetCached(0, input.length());
            return null;
        } catch (CorruptionException e) {
            return e;
        } catch (IOException e) {
            NoAnswer.rethrow(e);
            return new CorruptionException(shown + "/" + file.stored(), -1, "a file that can be read", e.toString());
        }
    }

    /** Gives a file another name: every backup that has it lacks it from now on. */
    private void setAside(BackupFile file) throws IOException {
        if (folder.exists(file.stored())) {
            folder.rename(file.stored(), file.stored() + BackupNames.DAMAGED);
        }
    }

    /** As {@link #find}; makes the damage last, so that {@link #findings} names it and the next backup mends it. */
    public @Nullable CorruptionException findAndNote(BackupFile file, Steps steps) throws IOException {
        boolean isNamed = list().stream().anyMatch(backup -> backup.files().contains(file));
        CorruptionException damage = isNamed ? find(file, steps) : null;
        if (damage != null) {
            setAside(file);
            folder.sync();
        }
        return damage;
    }

    /**
     * Removes the oldest backups, so that {@code count} whole ones are left, and the files that no other backup has. A
     * list that cannot be used goes when it is older than all that are left.
     */
    public void keep(int count) throws IOException {
        List<Backup> whole = new ArrayList<>();
        for (Backup backup : list()) {
            if (isWhole(backup)) {
                whole.add(backup);
            }
        }
        long oldest = whole.size() < count ? 0 : whole.get(whole.size() - count).number();
        for (String name : folder.names()) {
            if (BackupNames.isList(name) && BackupNames.numberOf(name) < oldest) {
                folder.delete(name);
            }
        }
        // A file may go only when no list that a power cut could bring back has it.
        folder.sync();
        removeLeftovers();
    }

    /**
     * Copies the files of a backup to an empty directory and checks each.
     *
     * @throws CorruptionException if a file is missing or damaged
     */
    public void copyTo(Backup backup, Directory target, Steps steps) throws IOException {
        for (BackupFile file : backup.files()) {
            try (Input input = open(file);
                    Output output = target.create(file.name())) {
                check(file, transfer(input, output, steps));
                output.force();
            }
        }
        target.sync();
    }

    /**
     * Copies what is there of a backup to an empty directory: also files that are damaged, for a salvage of their
     * records. Bytes that cannot be read become zeros.
     *
     * @return names of the files of the database that are missing, or not as they were written
     */
    public List<String> copyWhatIsThere(Backup backup, Directory target, Steps steps) throws IOException {
        List<String> damaged = new ArrayList<>();
        for (BackupFile file : backup.files()) {
            String aside = file.stored() + BackupNames.DAMAGED;
            String stored = folder.exists(file.stored()) ? file.stored() : aside;
            if (!folder.exists(stored)) {
                damaged.add(file.name());
                continue;
            }
            try (Input input = new ZerosWhereUnreadable(folder.open(stored));
                    Output output = target.create(file.name())) {
                BackupFile copied = transfer(input, output, steps);
                output.force();
                if (!copied.hasBytesOf(file)) {
                    damaged.add(file.name());
                }
            }
        }
        target.sync();
        return damaged;
    }

    /**
     * Reads the files of a backup and checks each.
     *
     * @throws CorruptionException if a file is missing or damaged
     */
    public void verify(Backup backup, Steps steps) throws IOException {
        for (BackupFile file : backup.files()) {
            CorruptionException damage = find(file, steps);
            if (damage != null) {
                throw damage;
            }
        }
    }

    /**
     * Returns whether the newest backup with a table of this name and length has other bytes in it: then one of the two
     * is damaged, or they are of different histories. RocksDB itself verifies records and indexes of a table, but not
     * its filters.
     */
    public boolean differs(Directory database, String table) throws IOException {
        BackupFile known = null;
        long length = database.length(table);
        for (Backup backup : list()) {
            for (BackupFile file : backup.files()) {
                if (file.name().equals(table) && file.bytes() == length) {
                    known = file;
                }
            }
        }
        if (known == null) {
            return false;
        }
        try (Input input = database.open(table)) {
            return transfer(input, null, Steps.UNBOUND).crc() != known.crc();
        }
    }

    private Input open(BackupFile file) throws IOException {
        if (folder.exists(file.stored())) {
            return folder.open(file.stored());
        }
        String damaged = file.stored() + BackupNames.DAMAGED;
        throw new CorruptionException(
                shown + "/" + file.stored(),
                -1,
                "a file of the backup",
                folder.exists(damaged) ? "none: it was found damaged, and is now " + damaged : "none");
    }

    private void check(BackupFile file, BackupFile found) throws CorruptionException {
        if (!found.hasBytesOf(file)) {
            throw new CorruptionException(
                    shown + "/" + file.stored(),
                    -1,
                    file.bytes() + " bytes with CRC-32C " + Integer.toHexString(file.crc()),
                    found.bytes() + " bytes with " + Integer.toHexString(found.crc()));
        }
    }

    private long nextNumber() throws IOException {
        return 1
                + folder.names().stream()
                        .filter(BackupNames::isList)
                        .mapToLong(BackupNames::numberOf)
                        .max()
                        .orElse(0);
    }

    private void write(Backup backup) throws IOException {
        String name = BackupNames.list(backup.number());
        try (Output output = folder.create(name + BackupNames.NEW)) {
            output.append(ByteBuffer.wrap(BackupFormat.encode(backup, authenticates)));
            output.force();
        }
        folder.rename(name + BackupNames.NEW, name);
        folder.sync();
    }

    private Map<String, BackupFile> knownTables() throws IOException {
        Map<String, BackupFile> known = new HashMap<>();
        for (Backup backup : list()) {
            backup.files().forEach(file -> known.put(file.stored(), file));
        }
        return known;
    }

    /** Removes files that no backup has. */
    private void removeLeftovers() throws IOException {
        BackupLists lists = lists();
        if (!lists.unusable().isEmpty()) {
            log.debug("{} in {} cannot be used; the tables that no other backup has stay", lists.unusable(), shown);
        }
        Set<String> named = new HashSet<>();
        lists.backups().forEach(backup -> backup.files().forEach(file -> named.add(file.stored())));
        List<String> names = folder.names();
        for (String name : names) {
            String stored = BackupNames.without(BackupNames.DAMAGED, name);
            boolean isReplaced = !stored.equals(name) && names.contains(stored);
            boolean isLeft =
                    BackupNames.isStored(stored) && (isReplaced || !named.contains(stored) && !lists.mayHide(stored));
            if (isLeft || BackupNames.isUnfinished(name)) {
                folder.delete(name);
            }
        }
        folder.sync();
    }

    /**
     * Copies a file; one of that name is replaced when the new one is durable.
     *
     * @param known what a backup says of the file; null if none has it
     * @throws CorruptionException if that says something else: a table never changes, so one of the two is damaged
     */
    private BackupFile copy(Directory database, String name, String stored, @Nullable BackupFile known, Steps steps)
            throws IOException {
        String unfinished = stored + BackupNames.NEW;
        if (folder.exists(unfinished)) {
            folder.delete(unfinished);
        }
        BackupFile copied;
        try (Input input = database.open(name);
                Output output = folder.create(unfinished)) {
            copied = transfer(input, output, steps);
            output.force();
        }
        if (known != null && !copied.hasBytesOf(known)) {
            folder.delete(unfinished);
            throw new CorruptionException(
                    "the file " + name + " of the metadata database",
                    -1,
                    "the bytes that were backed up to " + shown + "/" + stored,
                    "others, so one of the two is damaged");
        }
        folder.rename(unfinished, stored);
        return new BackupFile(name, copied.bytes(), copied.crc(), stored);
    }

    /** Reads a file, and writes it unless {@code output} is null; returns its length and checksum. */
    private static BackupFile transfer(Input input, @Nullable Output output, Steps steps) throws IOException {
        CRC32C crc = new CRC32C();
        ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
        long length = input.length();
        for (long at = 0; at < length; ) {
            buffer.clear().limit((int) Math.min(BUFFER_BYTES, length - at));
            input.readFully(at, buffer);
            buffer.flip();
            crc.update(buffer.duplicate());
            at += buffer.remaining();
            long bytes = buffer.remaining();
            if (output != null) {
                output.append(buffer);
            }
            steps.copied(bytes);
        }
        return new BackupFile("", length, (int) crc.getValue(), "");
    }

    @Override
    public String toString() {
        return shown;
    }
}
