package org.opendedup.sar.metadata.backup;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
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
 * <p>For one thread at a time.
 */
public final class BackupFolder {
    /** Name of the folder in a data location. */
    public static final String NAME = "metadata-backups";

    private static final Logger log = LoggerFactory.getLogger(BackupFolder.class);
    private static final String LIST_SUFFIX = ".backup";
    private static final String NEW_SUFFIX = ".new";
    private static final Pattern LIST = Pattern.compile("(\\d{6,18})\\.backup");
    private static final String TABLES = "tables/";
    private static final String OTHERS = "files/";
    /** Bytes at the end of a table that identify it: its properties lie there, which take about two kilobytes. */
    private static final int TAIL_BYTES = 16 << 10;

    private static final int BUFFER_BYTES = 256 << 10;
    /** Longest list that is read: some million tables. */
    private static final long MOST_LIST_BYTES = 256 << 20;

    /** Sees each step of a copy; may wait in it, so that others have the disk, or stop it by an exception. */
    @FunctionalInterface
    public interface Steps {
        Steps UNBOUND = bytes -> {};

        /** @param bytes bytes that were copied since the last call */
        void copied(long bytes) throws IOException;
    }

    /** Checks a table of the database before it is copied, by name; throws if it is damaged. */
    @FunctionalInterface
    public interface TableCheck {
        void check(String table) throws IOException;
    }

    private final Directory folder;

    public BackupFolder(Directory folder) {
        this.folder = folder;
    }

    /** Returns the backups, the oldest first. A list that is damaged is left out; {@link #damaged} names it. */
    public List<Backup> list() throws IOException {
        List<Backup> found = new ArrayList<>();
        for (String name : listNames()) {
            try {
                found.add(read(name));
            } catch (NoSuchFileException e) {
                // Removed meanwhile, because a newer backup was made.
                log.debug("{} in {} is gone", name, folder, e);
            } catch (CorruptionException e) {
                log.debug("{} in {} is left out", name, folder, e);
            }
        }
        found.sort(Comparator.comparingLong(Backup::number));
        return found;
    }

    /** Returns the names of lists that are damaged. */
    public List<String> damaged() throws IOException {
        List<String> damaged = new ArrayList<>();
        for (String name : listNames()) {
            try {
                var unused = read(name);
            } catch (NoSuchFileException e) {
                log.debug("{} in {} is gone", name, folder, e);
            } catch (CorruptionException e) {
                log.debug("{} in {} is damaged", name, folder, e);
                damaged.add(name);
            }
        }
        return damaged;
    }

    /**
     * Adds a backup; durable when it returns.
     *
     * @param database the files of a database that does not change
     * @throws IOException if it fails, or {@code steps} stopped it; earlier backups are not affected
     */
    public Backup add(Directory database, BackupOrigin origin, TableCheck check, Steps steps) throws IOException {
        removeLeftovers();
        Map<String, BackupFile> known = knownTables();
        long number =
                listNames().stream().mapToLong(BackupFolder::numberOf).max().orElse(0) + 1;
        List<BackupFile> files = new ArrayList<>();
        for (String name : database.list()) {
            if (!name.endsWith(".sst")) {
                files.add(copy(database, name, String.format(Locale.ROOT, "%s%06d.%s", OTHERS, number, name), steps));
                continue;
            }
            String stored = TABLES + identity(database, name);
            BackupFile shared = known.get(stored);
            if (shared != null && folder.exists(stored) && folder.length(stored) == shared.bytes()) {
                files.add(new BackupFile(name, shared.bytes(), shared.crc(), stored));
            } else {
                check.check(name);
                files.add(copy(database, name, stored, steps));
            }
        }
        folder.sync();
        Backup backup = new Backup(number, origin, files);
        write(backup);
        return backup;
    }

    /** Returns the number of bytes that {@link #add} would copy. */
    public long newBytes(Directory database) throws IOException {
        Map<String, BackupFile> known = knownTables();
        long bytes = 0;
        for (String name : database.list()) {
            boolean isShared = name.endsWith(".sst") && known.containsKey(TABLES + identity(database, name));
            bytes += isShared ? 0 : database.length(name);
        }
        return bytes;
    }

    /** Removes all backups but the newest {@code count}, and the files that no other backup has. */
    public void keep(int count) throws IOException {
        List<Backup> all = list();
        for (Backup old : all.subList(0, Math.max(0, all.size() - count))) {
            folder.delete(listName(old.number()));
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
     * Reads the files of a backup and checks each.
     *
     * @throws CorruptionException if a file is missing or damaged
     */
    public void verify(Backup backup, Steps steps) throws IOException {
        for (BackupFile file : backup.files()) {
            try (Input input = open(file)) {
                check(file, transfer(input, null, steps));
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
        if (!folder.exists(file.stored())) {
            throw new CorruptionException(folder + "/" + file.stored(), -1, "a file of the backup", "none");
        }
        return folder.open(file.stored());
    }

    private void check(BackupFile file, BackupFile found) throws CorruptionException {
        if (file.bytes() != found.bytes() || file.crc() != found.crc()) {
            throw new CorruptionException(
                    folder + "/" + file.stored(),
                    -1,
                    file.bytes() + " bytes with CRC-32C " + Integer.toHexString(file.crc()),
                    found.bytes() + " bytes with " + Integer.toHexString(found.crc()));
        }
    }

    private List<String> listNames() throws IOException {
        return folder.list().stream()
                .filter(name -> LIST.matcher(name).matches())
                .toList();
    }

    private static long numberOf(String listName) {
        Matcher matcher = LIST.matcher(listName);
        return matcher.matches() ? Long.parseLong(matcher.group(1)) : 0;
    }

    private static String listName(long number) {
        return String.format(Locale.ROOT, "%06d%s", number, LIST_SUFFIX);
    }

    private Backup read(String name) throws IOException {
        try (Input input = folder.open(name)) {
            if (input.length() > MOST_LIST_BYTES) {
                throw new CorruptionException(folder + "/" + name, -1, "the list of a backup's files", "a longer file");
            }
            byte[] bytes = new byte[(int) input.length()];
            input.readFully(0, ByteBuffer.wrap(bytes));
            return BackupFormat.decode(bytes, folder + "/" + name);
        }
    }

    private void write(Backup backup) throws IOException {
        String name = listName(backup.number());
        try (Output output = folder.create(name + NEW_SUFFIX)) {
            output.append(ByteBuffer.wrap(BackupFormat.encode(backup)));
            output.force();
        }
        folder.rename(name + NEW_SUFFIX, name);
        folder.sync();
    }

    private Map<String, BackupFile> knownTables() throws IOException {
        Map<String, BackupFile> known = new HashMap<>();
        for (Backup backup : list()) {
            backup.files().forEach(file -> known.put(file.stored(), file));
        }
        return known;
    }

    /** Removes files that no backup has. Keeps all of them if a list is damaged: they may be its files. */
    public void removeLeftovers() throws IOException {
        if (!damaged().isEmpty()) {
            log.warn("the list of a metadata backup in {} is damaged: {}; no old file is removed", folder, damaged());
            return;
        }
        Set<String> named = new HashSet<>(knownTables().keySet());
        for (String name : folder.list()) {
            boolean isOurs =
                    name.startsWith(TABLES) || name.startsWith(OTHERS) || name.endsWith(LIST_SUFFIX + NEW_SUFFIX);
            if (isOurs && !named.contains(name)) {
                folder.delete(name);
            }
        }
        folder.sync();
    }

    private static String identity(Directory database, String table) throws IOException {
        try (Input input = database.open(table)) {
            long bytes = input.length();
            byte[] tail = new byte[(int) Math.min(bytes, TAIL_BYTES)];
            input.readFully(bytes - tail.length, ByteBuffer.wrap(tail));
            String hash = HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(tail), 0, 16);
            return table.replace(".sst", "-" + bytes + "-" + hash + ".sst");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private BackupFile copy(Directory database, String name, String stored, Steps steps) throws IOException {
        if (folder.exists(stored)) {
            // Its list is gone, or it has another length than its list says.
            folder.delete(stored);
        }
        try (Input input = database.open(name);
                Output output = folder.create(stored)) {
            BackupFile copied = transfer(input, output, steps);
            output.force();
            return new BackupFile(name, copied.bytes(), copied.crc(), stored);
        }
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
}
