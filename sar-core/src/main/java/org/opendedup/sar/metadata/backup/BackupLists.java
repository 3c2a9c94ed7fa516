package org.opendedup.sar.metadata.backup;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.crypt.KeyedHash;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.NoAnswer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lists of a folder with backups.
 *
 * @param backups the backups, the oldest first
 * @param unusable lists that cannot be used, the oldest first
 */
record BackupLists(List<Backup> backups, List<Unusable> unusable) {
    /**
     * A list that cannot be used.
     *
     * @param why a verb with what it says of the list
     */
    record Unusable(String name, String why) {}

    private static final Logger log = LoggerFactory.getLogger(BackupLists.class);
    /** Longest list that is read: some million tables. */
    private static final long MOST_LIST_BYTES = 256 << 20;

    /**
     * @param shown path of the folder for messages
     * @param authenticates the lists of an encrypted volume; null: they are not verified
     */
    static BackupLists of(Directory folder, String shown, @Nullable KeyedHash authenticates) throws IOException {
        List<Backup> backups = new ArrayList<>();
        List<Unusable> unusable = new ArrayList<>();
        for (String name : folder.names()) {
            if (BackupNames.isList(name)) {
                try {
                    byte[] bytes = read(folder, shown, name);
                    Backup backup = decode(bytes, shown, name);
                    if (authenticates == null || BackupFormat.isAuthentic(bytes, authenticates)) {
                        backups.add(backup);
                    } else {
                        unusable.add(new Unusable(name, "was changed or exchanged"));
                    }
                } catch (NoSuchFileException e) {
                    // Removed meanwhile, because a newer backup was made.
                    log.debug("{} in {} is gone", name, shown, e);
                } catch (IOException e) {
                    NoAnswer.rethrow(e);
                    log.debug("{} in {} is left out", name, shown, e);
                    unusable.add(new Unusable(name, "is damaged or cannot be read"));
                }
            }
        }
        backups.sort(Comparator.comparingLong(Backup::number));
        unusable.sort(Comparator.comparingLong(list -> BackupNames.numberOf(list.name())));
        return new BackupLists(backups, unusable);
    }

    private static byte[] read(Directory folder, String shown, String name) throws IOException {
        try (Input input = folder.open(name)) {
            if (input.length() > MOST_LIST_BYTES) {
                throw new CorruptionException(shown + "/" + name, -1, "the list of a backup's files", "a longer file");
            }
            byte[] bytes = new byte[(int) input.length()];
            input.readFully(0, ByteBuffer.wrap(bytes));
            return bytes;
        }
    }

    private static Backup decode(byte[] bytes, String shown, String name) throws IOException {
        Backup backup = BackupFormat.decode(bytes, shown + "/" + name);
        if (backup.number() != BackupNames.numberOf(name)) {
            throw new CorruptionException(shown + "/" + name, -1, "the list of that backup", "another one");
        }
        return backup;
    }

    /**
     * Returns what is wrong with the backups, each in a sentence without its full stop.
     *
     * @param names of the files in the folder
     */
    List<String> findings(Set<String> names) {
        List<String> findings = new ArrayList<>();
        for (Unusable list : unusable) {
            findings.add("the list " + list.name + " " + list.why + ", so that backup is of no use");
        }
        for (Backup backup : backups) {
            long missing = missing(backup, names);
            if (missing > 0) {
                findings.add("backup " + backup.number() + " lacks " + missing + " of its "
                        + backup.files().size() + " files");
            }
        }
        return findings;
    }

    /** Returns how many files of a backup are not among those with these names. */
    static long missing(Backup backup, Set<String> names) {
        return backup.files().stream()
                .filter(file -> !names.contains(file.stored()))
                .count();
    }

    /** Returns whether one of the lists that cannot be used may have a file. */
    boolean mayHide(String stored) {
        return unusable.stream()
                .anyMatch(list -> BackupNames.isTable(stored) || BackupNames.isFileOf(list.name, stored));
    }
}
